#include "nic/scheduler.h"

#include <bit>

namespace mrc::nic {

void Scheduler::make_ready(Qp& qp) {
  if (qp.in_turn) return;
  List<Qp, WaitTag>::remove(qp);
  levels_[qp.service_level].push_back(qp);
  waiting_ |= 1u << qp.service_level;
  qp.in_turn = true;
  ++ready_;
}

void Scheduler::park(Qp& qp) {
  List<Qp, WaitTag>::remove(qp);
  if (!qp.in_turn) return;
  qp.in_turn = false;
  qp.spent = 0;
  --ready_;
  if (levels_[qp.service_level].empty()) waiting_ &= ~(1u << qp.service_level);
}

void Scheduler::forget(Qp& qp) {
  park(qp);
  List<Qp, ControlTag>::remove(qp);
}

// MRC-NIC-005: a higher service level goes first, or each level gets its share, as the setting says.
int Scheduler::pick_level() {
  if (settings_.levels == LevelPolicy::strict) return std::bit_width(waiting_) - 1;
  for (int round = 0; round < 2; ++round) {
    for (int level = kServiceLevels - 1; level >= 0; --level) {
      if ((waiting_ >> level & 1) != 0 && credit_[static_cast<std::size_t>(level)] > 0) return level;
    }
    for (std::size_t level = 0; level < kServiceLevels; ++level) {
      credit_[level] =
          settings_.weights[level] == 0 ? std::int16_t{1} : std::int16_t{settings_.weights[level]};
    }
  }
  return std::bit_width(waiting_) - 1;
}

Qp* Scheduler::next() {
  if (waiting_ == 0) return nullptr;
  return &levels_[static_cast<std::size_t>(pick_level())].front();
}

void Scheduler::rotate(Qp& qp) {
  qp.spent = 0;
  List<Qp, WaitTag>::remove(qp);
  levels_[qp.service_level].push_back(qp);
}

void Scheduler::note_sent(Qp& qp) {
  if (!qp.in_turn) return;
  --credit_[qp.service_level];
  if (++qp.spent >= qp.quantum) rotate(qp);
}

void Scheduler::yield(Qp& qp) {
  if (qp.in_turn) rotate(qp);
}

}  // namespace mrc::nic
