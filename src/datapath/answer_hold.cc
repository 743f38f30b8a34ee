#include "datapath/answer_hold.h"

#include <algorithm>

namespace mrc::datapath {

void AnswerHold::Bet::won(const HoldSettings& s) { next_ = std::max(next_ / 2, s.pause); }

void AnswerHold::Bet::lost(const HoldSettings& s, std::uint32_t eighths) {
  pause_ = std::min(next_ / 8 * eighths, s.pause_max);
  if (eighths >= 8) next_ = std::min(2 * next_, s.pause_max);
}

bool AnswerHold::look(Time now, std::size_t arrived) {
  call_.tick();
  reply_.tick();
  talk_.tick();
  waiting_ = (holding_ ? waiting_ : 0) + arrived;
  holding_ = holding_ ? go_on(now, arrived) : begin(now, arrived);
  looked_ = now;
  return holding_;
}

bool AnswerHold::begin(Time now, std::size_t arrived) {
  due_ = false;
  if (arrived == 0 || arrived > settings_.packets || !call_.open()) return false;
  note_arrival(now);
  return true;
}

/// Answers wait since an earlier look.
bool AnswerHold::go_on(Time now, std::size_t arrived) {
  if (now - looked_ > settings_.regret) {
    call_.lost(settings_, regrets(now - looked_));
    return false;
  }
  call_.won(settings_);
  due_ = due_ || !may_wait(now, arrived);
  // Even so, what has just come is the application's first, which is back before an answer could be sent.
  return !due_ || (arrived > 0 && waiting_ < 2 * settings_.packets);
}

bool AnswerHold::may_wait(Time now, std::size_t arrived) {
  if (waiting_ >= settings_.packets) return false;
  if (!replied_) return may_wait_for_reply(now);
  if (arrived > 0) {
    talk_.won(settings_);
    note_arrival(now);
    return true;
  }
  if (now - arrival_ <= limit()) return true;
  if (limit() > Duration::zero()) talk_.lost(settings_);
  return false;
}

/// More may come meanwhile: a peer that sends without an answer does not wait for it.
bool AnswerHold::may_wait_for_reply(Time now) {
  if (!reply_.open()) return false;
  if (now - arrival_ <= settings_.reply) return true;
  reply_.lost(settings_);
  return false;
}

void AnswerHold::note_arrival(Time now) {
  const Duration gap = now - std::max(arrival_, now - 2 * settings_.most);
  gap_ = std::max(gap, gap_ - gap_ / 8);
  arrival_ = now;
  replied_ = false;
}

/// Where cores are shared everybody is away for some regrets now and then. Who went to do something else is
/// away for many.
std::uint32_t AnswerHold::regrets(Duration away) const {
  constexpr std::int64_t kMost = 64;
  return static_cast<std::uint32_t>(std::min<std::int64_t>(away / settings_.regret, kMost));
}

Duration AnswerHold::limit() const {
  return talk_.open() ? std::min(settings_.gaps * gap_, settings_.most) : Duration::zero();
}

}  // namespace mrc::datapath
