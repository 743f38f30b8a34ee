// For tests of the driver: two stations joined in memory.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "datapath/testing.h"

namespace mrc::datapath::testing {

using engine::WorkStatus;

inline port::Address address(const char* text) { return *port::parse_address(text); }

/// Two stations over one port in memory each, in virtual time.
struct Wired : ::testing::Test {
  explicit Wired(std::uint32_t max_train = 16)
      : left(address("10.1.0.1"), max_train),
        right(address("10.1.0.2"), max_train),
        a(1, one_port(), {&left}),
        b(2, one_port(), {&right}) {
    left.join(right);
  }
  static nic::testing::HostOptions one_port() {
    nic::testing::HostOptions o;
    o.ports = 1;
    return o;
  }
  void run(int turns = 20'000) {
    for (int i = 0; i < turns; ++i) {
      now += 1us;
      const bool moved = a.driver.turn(now) | b.driver.turn(now);
      const Time next = std::min(a.driver.next_timeout(), b.driver.next_timeout());
      if (!moved && next == kNever) return;
      if (!moved && next > now) now = next;
    }
  }
  bool arrived(std::size_t from, std::size_t to, std::size_t length) const {
    return std::memcmp(&a.host.memory[from], &b.host.memory[to], length) == 0;
  }

  MemoryPort left, right;
  Station a, b;
  Time now{};
};

}  // namespace mrc::datapath::testing
