#include "nic/level_queue.h"

#include <algorithm>
#include <bit>

#include "nic/qp.h"

namespace mrc::nic {

void LevelQueue::push_back(Qp& qp) {
  levels_[qp.service_level].push_back(qp);
  seen_ |= 1u << qp.service_level;
}

/// QPs leave without telling: a level is known to be empty only when somebody looks.
bool LevelQueue::occupied(int level) {
  if ((seen_ >> level & 1) == 0) return false;
  if (!levels_[static_cast<std::size_t>(level)].empty()) return true;
  seen_ &= ~(1u << level);
  return false;
}

bool LevelQueue::empty() {
  while (seen_ != 0) {
    if (occupied(std::bit_width(seen_) - 1)) return false;
  }
  return true;
}

/// Everybody who is there has had its share: the next round. Who was not there saves nothing up.
void LevelQueue::refill(const SchedulerSettings& settings) {
  for (std::size_t level = 0; level < kServiceLevels; ++level) {
    const int weight = std::max<int>(settings.weights[level], 1);
    credit_[level] = static_cast<std::int16_t>(std::min(weight, credit_[level] + weight));
  }
}

// MRC-NIC-005: a higher service level goes first, or each level gets its share, as the setting says.
int LevelQueue::pick(const SchedulerSettings& settings) {
  if (settings.levels == LevelPolicy::strict) return std::bit_width(seen_) - 1;
  for (;; refill(settings)) {
    for (int level = kServiceLevels - 1; level >= 0; --level) {
      if (credit_[static_cast<std::size_t>(level)] > 0 && occupied(level)) return level;
    }
  }
}

Qp& LevelQueue::next(const SchedulerSettings& settings) {
  empty();  // forgets levels above the highest that has somebody
  return levels_[static_cast<std::size_t>(pick(settings))].front();
}

void LevelQueue::charge(const Qp& qp) {
  auto& credit = credit_[qp.service_level];
  if (credit > -kMostDebt) --credit;
}

void WaitingQps::admit(std::uint8_t level) {
  if (level_ == kNobody) level_ = level;
  if (level == level_ || levels_ != nullptr) return;
  levels_ = std::make_unique<LevelQueue>();
  while (!alike_.empty()) levels_->push_back(alike_.pop_front());
}

void WaitingQps::push_back(Qp& qp) { levels_ != nullptr ? levels_->push_back(qp) : alike_.push_back(qp); }

bool WaitingQps::empty() { return levels_ != nullptr ? levels_->empty() : alike_.empty(); }

Qp& WaitingQps::next(const SchedulerSettings& settings) {
  return levels_ != nullptr ? levels_->next(settings) : alike_.front();
}

void WaitingQps::charge(const Qp& qp) {
  if (levels_ != nullptr) levels_->charge(qp);
}

}  // namespace mrc::nic
