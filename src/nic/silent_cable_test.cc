// A cable inside a plane falls silent: some EVs of the plane are dead and the others are not. What one QP
// finds out about an EV spares the others to that peer.
#include <gtest/gtest.h>

#include "nic/testing.h"

namespace mrc::nic::testing {
namespace {

constexpr std::uint32_t kBytes = 4096;
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
  void connect(int n) {
    engine::RequestorSettings requestor;
    requestor.suspect_slack = 1ms;
    QpSend send;
    send.requestor = requestor;
    QpConnect like;
    like.path_settings.spray_unit = 8;
    for (int i = 0; i < n; ++i) qps.push_back(&pair.connect(like, send).a);
  }
  /// Now and then a few packets on some of the QPs, as collectives have it.
  void trickle(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      pair.delay = prng.below(20) == 0 ? 500us : 50us;
      for (Qp* qp : qps) {
        if (prng.below(4) != 0) continue;
        EXPECT_EQ(pair.write(*qp, 0, kBytes, 4 * kBytes), 0);
        ++posted;
      }
      pair.run(1ms, 1ms);
      completed += pair.a.poll().size();
    }
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
  std::vector<Qp*> qps;
  Prng prng{3};
  std::size_t posted = 0, completed = 0;
  int lost = 0, by_plane = 0;
};

// MRC-EV-014
TEST_F(SilentCable, CostsAFewPacketsNotOnePerQpAndEv) {
  connect(64);
  trickle(200);
  cut();
  trickle(1000);
  RecordProperty("lost", lost), RecordProperty("by_plane", by_plane);
  EXPECT_LE(lost, 64) << "found once for all";
  EXPECT_GE(by_plane - lost, 5000) << "the living half of the plane goes on carrying";
  pair.filter = nullptr;
  pair.run(2s, 20ms);
  EXPECT_EQ(completed + pair.a.poll().size(), posted);
}

}  // namespace
}  // namespace mrc::nic::testing
