// Whose turn it is to send: control packets first, then data by service level, round robin within a level.
#pragma once

#include <cstdint>

#include "nic/level_queue.h"
#include "nic/qp.h"
#include "nic/settings.h"

namespace mrc::nic {

class Scheduler {
 public:
  explicit Scheduler(const SchedulerSettings& settings) : settings_(settings) {}

  /// The QP may have data to send. It leaves whatever else it was waiting in.
  void make_ready(Qp& qp);
  /// The QP has nothing that may leave now.
  void park(Qp& qp);
  /// The QP is gone.
  void forget(Qp& qp);

  /// Whose data goes next; nullptr: nobody's.
  Qp* next();
  /// It sent a packet.
  void note_sent(Qp& qp);
  /// It could not for want of a port: the next one's turn.
  void yield(Qp& qp);
  std::uint32_t ready() const { return ready_; }

  List<Qp, ControlTag> control;

 private:
  void rotate(Qp& qp);

  SchedulerSettings settings_;
  LevelQueue turns_;
  std::uint32_t ready_ = 0;  // QPs in turn
};

}  // namespace mrc::nic
