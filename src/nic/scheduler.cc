#include "nic/scheduler.h"

namespace mrc::nic {

void Scheduler::make_ready(Qp& qp) {
  if (qp.in_turn) return;
  List<Qp, WaitTag>::remove(qp);
  turns_.push_back(qp);
  qp.in_turn = true;
  ++ready_;
}

void Scheduler::park(Qp& qp) {
  List<Qp, WaitTag>::remove(qp);
  if (!qp.in_turn) return;
  qp.in_turn = false;
  qp.spent = 0;
  --ready_;
}

void Scheduler::forget(Qp& qp) {
  park(qp);
  List<Qp, ControlTag>::remove(qp);
}

Qp* Scheduler::next() { return ready_ == 0 ? nullptr : &turns_.next(settings_); }

void Scheduler::rotate(Qp& qp) {
  qp.spent = 0;
  List<Qp, WaitTag>::remove(qp);
  turns_.push_back(qp);
}

void Scheduler::note_sent(Qp& qp) {
  if (!qp.in_turn) return;
  turns_.charge(qp);
  if (++qp.spent >= qp.quantum) rotate(qp);
}

void Scheduler::yield(Qp& qp) {
  if (qp.in_turn) rotate(qp);
}

}  // namespace mrc::nic
