// The profiles' state machines, EV operations, use by QPs, and events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "node/local_profiles.h"

namespace mrc::node {
namespace {

using S = ProfileState;

EvValue ev(int value, int port = 1) {
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

TEST_F(Profiles, FormatWalk) {  // MRC-CTL-011
  EXPECT_EQ(store.modify_format(0, {.state = S::offline, .mode = FormatMode::udp}), EINVAL);
  EXPECT_EQ(store.modify_format(1, {.state = S::offline}), EINVAL);  // no mode
  EXPECT_EQ(store.modify_format(1, {.state = S::online, .mode = FormatMode::udp}), EINVAL);
  EXPECT_EQ(store.modify_format(1, {.mode = FormatMode::udp}), EINVAL);  // INIT takes nothing
  EXPECT_EQ(store.modify_format(1, {.state = S::offline, .mode = FormatMode::udp}), 0);
  EXPECT_EQ(store.modify_format(1, {.state = S::online}), EINVAL);  // no fields
  EXPECT_EQ(store.modify_format(1, {.widths = {{20}}}), E2BIG);
  EXPECT_EQ(store.modify_format(1, {.state = S::online, .expected = S::online, .widths = {{16}}}), EINVAL);
  EXPECT_EQ(store.modify_format(1, {.state = S::online, .expected = S::offline, .widths = {{16}}}), 0);
  EXPECT_EQ(store.modify_format(1, {.widths = {{8}}}), EINVAL);  // ONLINE is for queries
  EXPECT_EQ(store.modify_format(1, {.state = S::init}), EINVAL);
  EXPECT_EQ(store.format(1).widths, std::vector<std::uint8_t>{16});
  EXPECT_EQ(store.modify_format(1, {.state = S::offline}), 0);
  EXPECT_EQ(store.modify_format(1, {.state = S::init}), 0);
  EXPECT_EQ(store.format(1).state, S::init);
  EXPECT_FALSE(store.format(1).mode);
}

TEST_F(Profiles, FormatsAreFew) {
  make_format(1);
  make_format(2);
  EXPECT_EQ(store.modify_format(3, {.state = S::offline, .mode = FormatMode::udp}), E2BIG);
}

TEST_F(Profiles, FormatIsBusyWhileAProfileOverItIsOnline) {
  make_format(13);
  make_explicit(1);
  EXPECT_EQ(store.modify_format(13, {.state = S::offline}), EBUSY);
  ASSERT_EQ(store.modify_ev(1, {.state = S::offline}).error, 0);
  EXPECT_EQ(store.modify_format(13, {.state = S::offline}), 0);
  EXPECT_EQ(store.modify_ev(1, {.state = S::online}).error, EINVAL);  // its format is not ONLINE now
}

TEST_F(Profiles, ToOfflineNeeds) {  // MRC-CTL-012
  make_format(13);
  const EvField field{8, 0, 0, 255, 255};
  const EvChange whole{
      .state = S::offline, .mode = EvMode::generated, .format = 13, .count = 4, .fields = {{field}}};
  auto change = whole;
  change.mode.reset();
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  change = whole;
  change.format.reset();
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  change = whole;
  change.format = 14;  // no such format
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  change = whole;
  change.count.reset();
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  change = whole;
  change.fields.reset();
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  change = whole;
  change.count = 17;
  EXPECT_EQ(store.modify_ev(1, change).error, E2BIG);
  change = whole;
  change.min_active = 5;
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  change = whole;
  change.event_mask = 8;
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  change = whole;
  change.states = {{ev(1), EvState::denied}};  // fields and entries together
  EXPECT_EQ(store.modify_ev(1, change).error, EINVAL);
  EXPECT_EQ(store.ev(1).state, S::init);
  EXPECT_EQ(store.modify_ev(1, whole).error, 0);
}

TEST_F(Profiles, ToOnlineNeeds) {  // MRC-CTL-013
  make_format(13);
  auto change = explicit_change();
  change.min_active.reset();
  ASSERT_EQ(store.modify_ev(1, change).error, 0);
  ASSERT_EQ(store.modify_ev(1, {.replaces = {{{}, ev(1)}, {{}, ev(2)}}}).error, 0);
  EXPECT_EQ(store.modify_ev(1, {.state = S::online}).error, EINVAL);
  EXPECT_EQ(store.modify_ev(1, {.state = S::online, .min_active = 1}).error, 0);
  ASSERT_EQ(store.modify_ev(2, explicit_change()).error, 0);
  ASSERT_EQ(store.modify_ev(2, {.replaces = {{{}, ev(1)}}}).error, 0);
  EXPECT_EQ(store.modify_ev(2, {.state = S::online}).error, EINVAL);  // a slot is unpopulated
}

TEST_F(Profiles, CapacityIsShared) {
  make_format(13);
  EXPECT_EQ(store.free_evs(), 40u);
  for (const std::uint64_t id : {1, 2}) ASSERT_EQ(store.modify_ev(id, explicit_change(16)).error, 0);
  EXPECT_EQ(store.free_evs(), 8u);
  EXPECT_EQ(store.modify_ev(3, explicit_change(9)).error, E2BIG);
  EXPECT_EQ(store.modify_ev(1, {.count = 4}).error, 0);  // counts what it gives back
  EXPECT_EQ(store.modify_ev(3, explicit_change(9)).error, 0);
  EXPECT_EQ(store.modify_ev(4, explicit_change(1)).error, E2BIG);  // a fourth profile
  EXPECT_EQ(store.modify_ev(3, {.state = S::init}).error, 0);
  EXPECT_EQ(store.free_evs(), 20u);
}

TEST_F(Profiles, ReplaceStopsAtTheFirstThatFails) {  // MRC-CTL-014
  make_format(13);
  ASSERT_EQ(store.modify_ev(1, explicit_change(3)).error, 0);
  const auto outcome = store.modify_ev(1, {.replaces = {{{}, ev(1)}, {ev(9), ev(2)}, {{}, ev(3)}}});
  EXPECT_EQ(outcome.error, ENOENT);
  EXPECT_EQ(outcome.entry, 1u);
  EXPECT_EQ(store.ev(1).slots[0].value, ev(1));
  EXPECT_TRUE(store.ev(1).slots[1].value.unpopulated());
}

TEST_F(Profiles, ReplaceRules) {
  make_format(13);
  ASSERT_EQ(store.modify_ev(1, explicit_change(3)).error, 0);
  EvValue long_one = ev(1);
  long_one.bits[1] = 1;
  EXPECT_EQ(store.modify_ev(1, {.replaces = {{{}, long_one}}}).error, EINVAL);  // beyond the fields
  EXPECT_EQ(store.modify_ev(1, {.replaces = {{{}, ev(1, 0)}}}).error, EINVAL);
  EXPECT_EQ(store.modify_ev(1, {.replaces = {{{}, ev(1, 3)}}}).error, EINVAL);  // no such port
  EXPECT_EQ(store.modify_ev(1, {.replaces = {{{}, ev(5), true}}}).error, 0);
  for (const auto& slot : store.ev(1).slots) EXPECT_EQ(slot.value, ev(5));
  EXPECT_EQ(store.modify_ev(1, {.replaces = {{ev(5), ev(6)}}}).error, 0);
  EXPECT_EQ(store.ev(1).slots[0].value, ev(6));
  EXPECT_EQ(store.ev(1).slots[1].value, ev(5));
  EXPECT_EQ(store.modify_ev(1, {.replaces = std::vector<EvReplace>(9, {ev(5), ev(5)})}).error, E2BIG);
}

TEST_F(Profiles, OnlineTakesStatesOnly) {
  make_format(13);
  make_explicit(1);
  EXPECT_EQ(store.modify_ev(1, {.replaces = {{ev(1), ev(3)}}}).error, EINVAL);
  EXPECT_EQ(store.modify_ev(1, {.event_mask = 1}).error, EINVAL);
  EXPECT_EQ(store.modify_ev(1, {.count = 3}).error, EINVAL);
  EXPECT_EQ(store.modify_ev(1, {.states = {{ev(1), EvState::denied}}}).error, 0);
  EXPECT_EQ(store.ev(1).slots[0].state(), EvState::denied);
  EXPECT_EQ(store.modify_ev(1, {.states = {{ev(1), EvState::good}}}).error, 0);
  EXPECT_EQ(store.ev(1).slots[0].state(), EvState::good);
  EXPECT_EQ(store.modify_ev(1, {.states = {{ev(7), EvState::denied}}}).error, ENOENT);
  EXPECT_EQ(store.modify_ev(1, {.states = {{ev(1), EvState::assumed_bad}}}).error, EINVAL);
}

TEST_F(Profiles, InUseIsBusy) {
  make_format(13);
  make_explicit(1);
  EXPECT_FALSE(store.acquire_ev(2));
  const auto set = store.acquire_ev(1);
  ASSERT_TRUE(set);
  ASSERT_EQ(set->evs.size(), 2u);
  EXPECT_EQ(set->evs[0].ev, Ev(1));
  EXPECT_EQ(set->evs[1].port, PortId(2));
  EXPECT_EQ(store.modify_ev(1, {.state = S::offline}).error, EBUSY);
  store.release_ev(1);
  EXPECT_EQ(store.modify_ev(1, {.state = S::offline}).error, 0);
  EXPECT_FALSE(store.acquire_ev(1));
}

TEST_F(Profiles, GeneratedEvsStayInTheirRangesAndCoverThePortsEvenly) {
  make_format(13, FormatMode::stev, {8, 8});
  const std::vector<EvField> fields{{8, 0x40, 1, 6, 0x07}, {8, 0, 0, 3, 0x03}};
  ASSERT_EQ(store
                .modify_ev(1, {.state = S::offline,
                               .mode = EvMode::generated,
                               .format = 13,
                               .count = 16,
                               .min_active = 1,
                               .event_mask = 0,
                               .fields = fields})
                .error,
            0);
  ASSERT_EQ(store.modify_ev(1, {.state = S::online}).error, 0);
  const auto set = store.acquire_ev(1);
  ASSERT_TRUE(set);
  std::set<std::pair<std::uint32_t, int>> seen;
  int first_port = 0;
  for (const auto& path : set->evs) {
    const auto high = path.ev.value >> 8, low = path.ev.value & 0xff;
    EXPECT_GE(high, 0x41u);
    EXPECT_LE(high, 0x46u);
    EXPECT_LE(low, 3u);
    seen.insert({path.ev.value, path.port.value});
    first_port += path.port == PortId(1) ? 1 : 0;
  }
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(first_port, 8);
}

TEST_F(Profiles, AutomaticEvsDifferInTheirSourcePort) {
  ASSERT_EQ(
      store
          .modify_ev(
              1,
              {.state = S::offline, .mode = EvMode::automatic, .count = 16, .min_active = 1, .event_mask = 0})
          .error,
      0);
  ASSERT_EQ(store.modify_ev(1, {.state = S::online}).error, 0);
  const auto set = store.acquire_ev(1);
  std::set<std::pair<std::uint32_t, int>> seen;
  for (const auto& path : set->evs) {
    EXPECT_GE(path.ev.value & 0xffff, 0xC000u);
    seen.insert({path.ev.value & 0xffff, path.port.value});
  }
  EXPECT_EQ(seen.size(), 16u);
}

TEST_F(Profiles, Srv6PathsHaveANameAndTheirBits) {
  make_format(13, FormatMode::srv6, {32, 16, 16});
  const std::vector<EvField> fields{{32, 0xfcbb0000, 0, 0, 0}, {16, 0, 0, 0xffff, 0xffff}, {16, 7, 0, 0, 0}};
  ASSERT_EQ(store
                .modify_ev(1, {.state = S::offline,
                               .mode = EvMode::explicit_,
                               .format = 13,
                               .count = 1,
                               .min_active = 1,
                               .event_mask = 0,
                               .fields = fields})
                .error,
            0);
  EvValue value = ev(0x12);
  value.bits[1] = 0x34;
  ASSERT_EQ(store.modify_ev(1, {.replaces = {{{}, value}}}).error, 0);
  ASSERT_EQ(store.modify_ev(1, {.state = S::online}).error, 0);
  const auto set = store.acquire_ev(1);
  EXPECT_EQ(set->format, FormatMode::srv6);
  EXPECT_EQ(set->evs[0].ev, Ev(0x1234));
  EXPECT_THAT(std::vector<int>(set->evs[0].wire.begin(), set->evs[0].wire.begin() + 8),
              testing::ElementsAre(0xfc, 0xbb, 0, 0, 0x12, 0x34, 0, 7));
}

TEST_F(Profiles, CcWalk) {  // MRC-CTL-015
  const auto config = engine::default_nscc({});
  EXPECT_EQ(store.modify_cc(1, {.state = S::offline}), EINVAL);
  EXPECT_EQ(store.modify_cc(1, {.state = S::offline, .algorithm = engine::CcAlgorithm::nscc}), 0);
  EXPECT_EQ(store.modify_cc(1, {.state = S::online}), EINVAL);
  auto wrong = config;
  wrong.max_md_jump = 2;
  EXPECT_EQ(store.modify_cc(1, {.config = wrong}), EINVAL);
  EXPECT_EQ(store.modify_cc(1, {.state = S::online, .config = config}), 0);
  EXPECT_EQ(store.modify_cc(1, {.config = config}), EINVAL);  // ONLINE
  ASSERT_TRUE(store.acquire_cc(1));
  EXPECT_EQ(store.modify_cc(1, {.state = S::offline}), EBUSY);
  store.release_cc(1);
  EXPECT_EQ(store.modify_cc(1, {.state = S::offline}), 0);
  EXPECT_FALSE(store.acquire_cc(1));
  EXPECT_EQ(store.modify_cc(2, {.state = S::offline, .algorithm = engine::CcAlgorithm::off}), 0);
  EXPECT_EQ(store.modify_cc(2, {.state = S::online}), 0);  // off needs no parameters
}

struct Heard final : ProfileListener {
  void on_ev_denied(std::uint64_t profile, std::uint32_t slot, bool denied) override {
    all.push_back({profile, slot, denied});
  }
  std::vector<std::tuple<std::uint64_t, std::uint32_t, bool>> all;
};

TEST_F(Profiles, EventsFollowTheMaskAndQpsHearOfDenials) {  // MRC-CTL-016
  make_format(13);
  auto change = explicit_change();
  change.event_mask =
      static_cast<std::uint32_t>(EvState::denied) | static_cast<std::uint32_t>(EvState::assumed_bad);
  ASSERT_EQ(store.modify_ev(1, change).error, 0);
  ASSERT_EQ(store.modify_ev(1, {.replaces = {{{}, ev(1)}, {{}, ev(2, 2)}}}).error, 0);
  ASSERT_EQ(store.modify_ev(1, {.state = S::online}).error, 0);
  EvEventQueue queue(8);
  Heard heard;
  store.subscribe(&queue);
  store.listen(&heard);
  store.report_ev(1, 1, true);
  store.report_ev(1, 1, true);  // a second QP: no change of state
  store.report_ev(1, 1, false);
  store.report_ev(1, 1, false);  // good again: not in the mask
  ASSERT_EQ(store.modify_ev(1, {.states = {{ev(1), EvState::denied}}}).error, 0);
  store.report_ev(1, 99, true);  // nonsense changes nothing
  std::array<EvEvent, 8> events;
  ASSERT_EQ(queue.poll(events), 2u);
  EXPECT_EQ(events[0].value, ev(2, 2));
  EXPECT_EQ(events[0].state, EvState::assumed_bad);
  EXPECT_EQ(events[1].value, ev(1));
  EXPECT_EQ(events[1].state, EvState::denied);
  EXPECT_THAT(heard.all, testing::ElementsAre(std::tuple(1, 0, true)));
  store.unlisten(&heard);
  store.unsubscribe(&queue);
}

TEST(EvEventQueue, CountsWhatItDropped) {  // MRC-CTL-016
  int told = 0;
  EvEventQueue queue(2, [&] { ++told; });
  queue.arm();
  for (int i = 0; i < 5; ++i) queue.push({.profile = static_cast<std::uint64_t>(i)});
  EXPECT_EQ(told, 1);
  std::array<EvEvent, 8> events;
  ASSERT_EQ(queue.poll(events), 2u);
  EXPECT_EQ(events[1].profile, 1u);
  EXPECT_EQ(events[1].dropped, 0u);
  queue.push({.profile = 9});
  ASSERT_EQ(queue.poll(events), 1u);
  EXPECT_EQ(events[0].dropped, 3u);
}

}  // namespace
}  // namespace mrc::node
