#include "map/tally.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mrc::map {

const char* to_string(Condition c) {
  constexpr const char* kNames[] = {"unknown", "good", "lossy", "dead"};
  return kNames[static_cast<int>(c)];
}

void Tally::forget(Entry& e) {
  if (e.fate == Fate::answered) --answered_;
  if (e.fate == Fate::lost) --lost_;
  e.fate = Fate::none;
}

std::uint32_t Tally::on_sent(Time now) {
  Entry& e = at(next_);
  forget(e);
  if (next_ % kWindow == 0) rtt_min_before_ = std::exchange(rtt_min_, Duration(0));
  oldest_pending_ = std::max(oldest_pending_, next_ >= kWindow ? next_ - kWindow + 1 : 0);
  e = {now, next_, Fate::pending};
  return next_++;
}

void Tally::note_rtt(Duration rtt) {
  rtt = std::max(rtt, Duration(0));
  rtt_ = rtt_ == Duration(0) ? rtt : rtt_ + (rtt - rtt_) / 8;
  rtt_min_ = rtt_min_ == Duration(0) ? rtt : std::min(rtt_min_, rtt);
}

Duration Tally::rtt_min() const {
  if (rtt_min_ == Duration(0)) return rtt_min_before_;
  return rtt_min_before_ == Duration(0) ? rtt_min_ : std::min(rtt_min_, rtt_min_before_);
}

Arrival Tally::on_reply(std::uint32_t sequence, Time arrived) {
  Entry& e = at(sequence);
  if (e.fate == Fate::none || e.sequence != sequence) return Arrival::unknown;
  if (e.fate == Fate::answered) return Arrival::duplicate;
  const bool late = e.fate == Fate::lost;
  if (late) {
    --lost_;
    --lost_total_;
    ++late_total_;
  } else {
    note_rtt(arrived - e.sent);
  }
  e.fate = Fate::answered;
  answered_at_ = std::max(answered_at_, e.sent);
  ++answered_;
  ++good_run_;
  ++answers_since_dead_;
  run_ = 0;
  return late ? Arrival::late : Arrival::answer;
}

void Tally::advance(Time now, Duration timeout) {
  for (; oldest_pending_ < next_; ++oldest_pending_) {
    Entry& e = at(oldest_pending_);
    if (e.fate != Fate::pending) continue;
    if (now - e.sent < timeout) break;
    e.fate = Fate::lost;
    if (run_ == 0 && (condition_ != Condition::lossy || lost_ == 0)) lost_since_ = e.sent;
    ++lost_;
    ++lost_total_;
    ++run_;
    good_run_ = 0;
  }
}

std::uint32_t Tally::loss_events() const {
  std::uint32_t events = 0;
  bool before = false;
  const std::uint32_t first = next_ > kWindow ? next_ - kWindow : 0;
  for (std::uint32_t s = first; s < next_; ++s) {
    const Fate fate = entries_[s % kWindow].fate;
    if (fate == Fate::lost && !before) ++events;
    if (fate != Fate::none) before = fate == Fate::lost;
  }
  return events;
}

/// Of the `count` probes decided last, before the last `back` ones.
Fates Tally::recent(std::uint32_t back, std::uint32_t count) const {
  Fates out;
  const std::uint32_t first = next_ > kWindow ? next_ - kWindow : 0;
  for (std::uint32_t s = oldest_pending_; s-- > first && out.answered + out.lost < count;) {
    const Fate fate = entries_[s % kWindow].fate;
    if (fate != Fate::answered && fate != Fate::lost) continue;
    if (back > 0) {
      --back;
      continue;
    }
    ++(fate == Fate::lost ? out.lost : out.answered);
  }
  return out;
}

/// Of late, or altogether: whichever was worse.
Fates Tally::fates_before() const {
  constexpr std::uint32_t kShort = 32;
  const Fates of_late = recent(run_, kShort), all = recent(run_, kWindow);
  return of_late.cautious_loss() > all.cautious_loss() ? of_late : all;
}

/// Lost in a row: more than the path's usual loss would ever do?
bool Tally::too_long(const Settings& s, double usual_loss) const {
  if (run_ < s.dead_after) return false;
  constexpr double kLeast = 0.05, kMost = 0.9;
  return std::pow(std::clamp(usual_loss, kLeast, kMost), run_) <= s.dead_by_chance;
}

/// Old losses say nothing about a path that has just come back.
void Tally::restart() {
  for (Entry& e : entries_) {
    if (e.fate != Fate::pending) forget(e);
  }
  rtt_ = rtt_min_ = rtt_min_before_ = Duration(0);
}

// MRC-FAB-032: different thresholds for the way in and the way out, so that a verdict does not flutter.
void Tally::judge(const Settings& s, double usual_loss) {
  if (condition_ == Condition::dead) {
    if (good_run_ >= s.good_after) {
      restart();
      condition_ = Condition::good;
    } else if (answers_since_dead_ >= s.revived_by && answers_since_dead_ > good_run_) {
      condition_ = Condition::lossy;  // lost, answered, lost again: never quite dead
    } else if (run_ >= s.dead_after && !too_long(s, usual_loss)) {
      condition_ = Condition::unknown;  // what lies before it turned out to lose so much
    }
  } else if (too_long(s, usual_loss)) {
    condition_ = Condition::dead;
    answers_since_dead_ = 0;
  } else if (condition_ == Condition::lossy) {
    if (window() >= kWindow / 2 && loss() < s.clean_at) condition_ = Condition::good;
  } else if (lost_ >= s.loss_events && loss() >= s.lossy_at && loss_events() >= s.loss_events) {
    condition_ = Condition::lossy;
  } else if (condition_ == Condition::unknown && answered_ > 0 && run_ == 0) {
    condition_ = Condition::good;
  }
}

}  // namespace mrc::map
