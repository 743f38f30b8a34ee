// What profiles are for: the EVs that QPs get from them, and the events of those EVs.
#include <gmock/gmock.h>

#include <set>

#include "node/profiles_test_support.h"

namespace mrc::node {
namespace {

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
