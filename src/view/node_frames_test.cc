// What two snapshots of a node say together.
#include "view/node_frames.h"

#include <gtest/gtest.h>

namespace mrc::view {
namespace {

node::Snapshot snapshot(std::uint64_t taken_ns, std::uint64_t bytes, std::uint16_t bad) {
  node::QpFacts qp;
  qp.qpn = Qpn(7);
  qp.peer[15] = 2;
  qp.tx_bytes = bytes;
  qp.evs_in_state = {static_cast<std::uint16_t>(4 - bad), 0, bad, 0};
  qp.evs.assign(4, {Ev(9), PortId(1), node::EvFactState::good});
  node::ProcessFacts process;
  process.pid = 1;
  process.taken_ns = taken_ns;
  process.qps = {qp};
  node::Snapshot out;
  out.processes = {process};
  return out;
}

class OfANode : public ::testing::Test {
 protected:
  Frame take(const node::Snapshot& s) {
    Frame f;
    f.names = names;
    const auto host_at = [](const node::AddressBytes& a) {
      return a[15] == 2 ? std::optional<std::uint32_t>(5) : std::nullopt;
    };
    const auto ev_at = [](const node::ProcessFacts&, const node::EvFacts&) { return std::optional(Ev(3)); };
    frames.take(s, 1, host_at, ev_at, f);
    return f;
  }
  NodeFrames frames;
  std::vector<HostName> names;
};

TEST_F(OfANode, ARateIsTheDifferenceOverTheProcesssOwnTime) {
  EXPECT_EQ(take(snapshot(1'000'000'000, 500, 0)).qps.at(0).rate, 0);
  const Frame second = take(snapshot(1'500'000'000, 1500, 0));
  EXPECT_DOUBLE_EQ(second.qps.at(0).rate, 16'000);
  EXPECT_EQ(second.qps[0].host, 1u);
  EXPECT_EQ(second.qps[0].peer, 5u);
  EXPECT_EQ(second.qps[0].facts.evs.at(0).ev, Ev(3));
  // One that did not answer keeps its last rate instead of falling to nothing.
  EXPECT_DOUBLE_EQ(take(snapshot(1'500'000'000, 1500, 0)).qps.at(0).rate, 16'000);
}

TEST_F(OfANode, TellsTheFirstBadPathAndTheReturnOfTheLast) {
  EXPECT_TRUE(take(snapshot(1, 0, 0)).happenings.empty());
  EXPECT_EQ(take(snapshot(2, 0, 1)).happenings.at(0).what, "h1 to h5: 1 of 4 EVs assumed bad");
  EXPECT_TRUE(take(snapshot(3, 0, 3)).happenings.empty());
  EXPECT_EQ(take(snapshot(4, 0, 0)).happenings.at(0).what, "h1 to h5: all EVs usable again");
}

TEST_F(OfANode, EventsNameHostsAsTheFrameDoes) {
  names = {{1, "this node"}, {5, "fd00::5"}};
  EXPECT_EQ(take(snapshot(1, 0, 2)).happenings.at(0).what, "this node to fd00::5: 2 of 4 EVs assumed bad");
}

TEST_F(OfANode, LeavesOutWhoIsNotInTheFabric) {
  node::Snapshot s = snapshot(1, 0, 0);
  s.processes[0].qps[0].peer[15] = 3;
  EXPECT_TRUE(take(s).qps.empty());
}

}  // namespace
}  // namespace mrc::view
