// QPs that queue for one thing, by service level: the higher first, or each level its share.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "nic/list.h"
#include "nic/settings.h"

namespace mrc::nic {

struct Qp;
struct WaitTag;

/// A QP leaves by List<Qp, WaitTag>::remove, whichever queue it is in.
class LevelQueue {
 public:
  void push_back(Qp& qp);
  /// Whether somebody is there.
  bool empty();
  /// Whose turn it is. REQUIRES: not empty.
  Qp& next(const SchedulerSettings& settings);
  /// The QP sent a packet, whether or not it waited here for it: so much of its level's share is used.
  void charge(const Qp& qp);

 private:
  bool occupied(int level);
  int pick(const SchedulerSettings& settings);
  void refill(const SchedulerSettings& settings);

  static constexpr int kMostDebt = 64;  // packets; who took more at once is forgiven the rest

  std::array<List<Qp, WaitTag>, kServiceLevels> levels_;
  std::array<std::int16_t, kServiceLevels> credit_{};  // weighted: turns that the level still has
  std::uint32_t seen_ = 0;                             // bit per level that may have somebody
};

/// The same for the many queues (one per destination) in which everybody nearly always has one level: those
/// are one list.
class WaitingQps {
 public:
  /// QPs of this level will wait here.
  void admit(std::uint8_t level);
  void push_back(Qp& qp);
  bool empty();
  Qp& next(const SchedulerSettings& settings);
  void charge(const Qp& qp);

 private:
  static constexpr std::uint8_t kNobody = 0xFF;

  List<Qp, WaitTag> alike_;
  std::unique_ptr<LevelQueue> levels_;  // once a second level was admitted
  std::uint8_t level_ = kNobody;
};

}  // namespace mrc::nic
