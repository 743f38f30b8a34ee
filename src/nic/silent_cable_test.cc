// A cable inside a plane falls silent: some EVs of the plane are dead and the others are not. What one QP
// finds out about an EV spares the others to that peer.
#include <gtest/gtest.h>

#include "nic/trickle_test_support.h"

namespace mrc::nic::testing {
namespace {

constexpr int kEvs = 32;

struct SilentCable : ::testing::Test {
  static HostOptions options() {
    HostOptions o;
    o.ports = 4;
    o.evs = kEvs;
    o.limits.qps = 256;
    o.limits.packets_in_flight = 1 << 16;
    o.probes = {.at_once = 256, .interval = 50us};
    return o;
  }
  /// Every second EV of plane 3.
  static bool by_cable(const wire::Envelope& e) { return e.port == PortId(3) && e.ev.value % 2 == 0; }
  void cut() {
    pair.filter = [this](Host& from, Departure& packet) {
      const wire::Envelope& e = packet.transmit.envelope;
      const bool data = &from == &pair.a && std::holds_alternative<wire::Write>(packet.transmit.packet.body);
      by_plane += data && e.port == PortId(3);
      if (!by_cable(e)) return true;
      lost += data;
      return false;
    };
  }

  Pair pair{options()};
  Trickle trickle{pair, {.qps = 64, .usual = 50us, .late = 500us, .seldom = 4}};
  int lost = 0, by_plane = 0;
};

// MRC-EV-014
TEST_F(SilentCable, CostsAFewPacketsNotOnePerQpAndEv) {
  trickle.run(200);
  cut();
  trickle.run(1000);
  RecordProperty("lost", lost), RecordProperty("by_plane", by_plane);
  EXPECT_LE(lost, 64) << "found once for all";
  EXPECT_GE(by_plane - lost, 5000) << "the living half of the plane goes on carrying";
  trickle.expect_all_complete();
}

}  // namespace
}  // namespace mrc::nic::testing
