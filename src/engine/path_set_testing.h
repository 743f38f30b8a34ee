// For tests of paths: sets of any shape, packets dealt over them, probes answered.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "engine/path_set.h"

namespace mrc::engine {

inline constexpr PortMask kAll = PortMask(~0u);

class PathSetTest : public ::testing::Test {
 protected:
  static std::vector<Path> table(int ports, int per_port) {
    std::vector<Path> t;
    for (int i = 0; i < ports * per_port; ++i) {
      t.push_back({Ev(static_cast<std::uint32_t>(i + 1)), PortId(static_cast<std::uint8_t>(i % ports + 1))});
    }
    return t;
  }
  std::map<int, int> deal(PathSet& p, int packets, PortMask room = kAll) {
    std::map<int, int> by_slot;
    for (int i = 0; i < packets; ++i) {
      if (const auto s = p.choose(now, room)) ++by_slot[s->value];
    }
    return by_slot;
  }
  /// Lets the set send every probe that is due, and answers each.
  int answer_probes(PathSet& p) {
    int n = 0;
    while (const auto probe = p.poll_probe(now, kAll, TxOrder(1))) {
      p.on_probe_answer(now, probe->id);
      ++n;
    }
    return n;
  }
  /// The next plane is asked whether answers get through, and nobody says so.
  void ask_in_vain(PathSet& p) {
    p.ask_reverse(std::chrono::microseconds(10));
    ASSERT_TRUE(p.poll_probe(now, kAll, TxOrder(1)));
    now += std::chrono::milliseconds(1);
    p.handle_timeout(now);
  }
  Time now{};
  Narrator quiet{nullptr, Qpn(1)};
};

}  // namespace mrc::engine
