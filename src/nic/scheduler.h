// Whose turn it is to send: control packets first, then data by service level, round robin within a level.
#pragma once

#include <array>
#include <cstdint>

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
  int pick_level();
  void rotate(Qp& qp);

  SchedulerSettings settings_;
  std::array<List<Qp, WaitTag>, kServiceLevels> levels_;
  std::array<std::int16_t, kServiceLevels> credit_{};  // weighted: packets that the level may still send
  std::uint32_t waiting_ = 0;                          // bit per level that has somebody in turn
  std::uint32_t ready_ = 0;                            // QPs in turn
};

}  // namespace mrc::nic
