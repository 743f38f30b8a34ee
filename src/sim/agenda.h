// Which nodes have something to do in which window. A node is on it at most once where it counts: at its
// earliest window.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "sim/ps.h"

namespace mrc::sim {

using Window = std::int64_t;  // number of a stretch of time as long as the lookahead
inline constexpr Window kNoWindow = std::numeric_limits<Window>::max();

/// Nodes are 0 .. nodes-1. Near windows are slots of a wheel; far ones (retry timers) wait in an ordered map.
class Agenda {
 public:
  explicit Agenda(std::size_t nodes) : earliest_(nodes, kNoWindow) {}

  /// The node must run in window `w` or before. Earlier is kept, later is ignored: a node that runs says when
  /// it wants to run again.
  void note(std::uint32_t node, Window w) {
    if (w >= earliest_[node]) return;
    earliest_[node] = w;
    slot(w).push_back(node);
  }

  /// The first window in which anything runs; kNoWindow when nothing is left to do.
  Window next() {
    for (Window w = now_; w < now_ + kSlots; ++w) {
      if (still_wanted(wheel_[index(w)], w)) return w;
      wheel_[index(w)].clear();
    }
    while (!far_.empty()) {
      if (still_wanted(far_.begin()->second, far_.begin()->first)) return far_.begin()->first;
      far_.erase(far_.begin());
    }
    return kNoWindow;
  }

  /// Moves on to window `w` >= next() seen by all, and takes those who run in it, each once.
  void take(Window w, std::vector<std::uint32_t>& nodes) {
    nodes.clear();
    now_ = w;
    bring_near();
    for (const std::uint32_t node : wheel_[index(w)]) {
      if (earliest_[node] != w) continue;
      earliest_[node] = kNoWindow;
      nodes.push_back(node);
    }
    wheel_[index(w)].clear();
    now_ = w + 1;
    bring_near();
  }

 private:
  static constexpr Window kSlots = 256;
  static std::size_t index(Window w) { return static_cast<std::size_t>(w % kSlots); }

  std::vector<std::uint32_t>& slot(Window w) { return w < now_ + kSlots ? wheel_[index(w)] : far_[w]; }
  bool still_wanted(const std::vector<std::uint32_t>& nodes, Window w) const {
    for (const std::uint32_t node : nodes) {
      if (earliest_[node] == w) return true;
    }
    return false;
  }
  void bring_near() {
    while (!far_.empty() && far_.begin()->first < now_ + kSlots) {
      auto& near = wheel_[index(far_.begin()->first)];
      near.insert(near.end(), far_.begin()->second.begin(), far_.begin()->second.end());
      far_.erase(far_.begin());
    }
  }

  Window now_ = 0;
  std::vector<Window> earliest_;
  std::array<std::vector<std::uint32_t>, kSlots> wheel_;
  std::map<Window, std::vector<std::uint32_t>> far_;
};

}  // namespace mrc::sim
