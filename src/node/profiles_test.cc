// The profiles' state machines and EV operations: what a controller may do, and in which order.

#include "node/profiles_test_support.h"

namespace mrc::node {
namespace {

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

}  // namespace
}  // namespace mrc::node
