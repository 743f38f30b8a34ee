#include "datapath/answer_hold.h"

#include <algorithm>

namespace mrc::datapath {

void AnswerHold::Bet::won(const HoldSettings& s) { next_ = std::max(next_ / 2, s.pause); }

void AnswerHold::Bet::lost(const HoldSettings& s) {
  pause_ = next_;
  next_ = std::min(2 * next_, s.pause_max);
}

bool AnswerHold::look(Time now, std::size_t arrived) {
  call_.tick();
  reply_.tick();
  talk_.tick();
  const bool held = holding_;
  holding_ = held ? go_on(now, arrived) : begin(now, arrived);
  looked_ = now;
  return holding_;
}

bool AnswerHold::begin(Time now, std::size_t arrived) {
  if (arrived == 0 || arrived > settings_.packets || !call_.open()) return false;
  waiting_ = 0;
  note_arrival(now, arrived);
  return true;
}

/// Answers wait since an earlier look.
bool AnswerHold::go_on(Time now, std::size_t arrived) {
  if (now - looked_ > settings_.regret) {
    call_.lost(settings_);
    return false;
  }
  call_.won(settings_);
  if (!replied_) return wait_for_reply(now, arrived);
  if (waiting_ >= settings_.packets || arrived > settings_.packets) return false;
  if (arrived > 0) {
    talk_.won(settings_);
    note_arrival(now, arrived);
    return true;
  }
  if (now - arrival_ <= limit()) return true;
  if (limit() > Duration::zero()) talk_.lost(settings_);
  return false;
}

bool AnswerHold::wait_for_reply(Time now, std::size_t arrived) {
  if (!reply_.open()) return false;
  if (arrived == 0 && now - arrival_ <= settings_.reply) return true;
  reply_.lost(settings_);
  return false;
}

void AnswerHold::note_arrival(Time now, std::size_t arrived) {
  const Duration gap = now - std::max(arrival_, now - 2 * settings_.most);
  gap_ = std::max(gap, gap_ - gap_ / 8);
  arrival_ = now;
  waiting_ += arrived;
  replied_ = false;
}

Duration AnswerHold::limit() const {
  return talk_.open() ? std::min(settings_.gaps * gap_, settings_.most) : Duration::zero();
}

}  // namespace mrc::datapath
