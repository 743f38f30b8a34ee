// For tests of profiles: a store with small limits, and the profiles that most of them begin with.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>

#include "node/local_profiles.h"

namespace mrc::node {

using S = ProfileState;

inline EvValue ev(int value, int port = 1) {
  EvValue out;
  out.bits[0] = static_cast<std::uint8_t>(value);
  out.port = static_cast<std::uint8_t>(port);
  return out;
}

class Profiles : public testing::Test {
 protected:
  Profiles() : store(limits()) {}
  static ProfileLimits limits() {
    ProfileLimits limits;
    limits.evs = 40;
    limits.evs_per_profile = 16;
    limits.ev_profiles = 3;
    limits.formats = 2;
    limits.op_entries = 8;
    limits.ports = 2;
    return limits;
  }
  void make_format(std::uint64_t id, FormatMode mode = FormatMode::stev,
                   std::vector<std::uint8_t> widths = {8}) {
    ASSERT_EQ(store.modify_format(id, {.state = S::offline, .mode = mode, .widths = widths}), 0);
    ASSERT_EQ(store.modify_format(id, {.state = S::online}), 0);
  }
  EvChange explicit_change(std::uint32_t count = 2) {
    return {.state = S::offline,
            .mode = EvMode::explicit_,
            .format = 13,
            .count = count,
            .min_active = 1,
            .event_mask = 7};
  }
  void make_explicit(std::uint64_t id) {
    ASSERT_EQ(store.modify_ev(id, explicit_change()).error, 0);
    ASSERT_EQ(store.modify_ev(id, {.replaces = {{{}, ev(1)}, {{}, ev(2, 2)}}}).error, 0);
    ASSERT_EQ(store.modify_ev(id, {.state = S::online}).error, 0);
  }
  LocalProfiles store;
};

}  // namespace mrc::node
