// Goodput per 20 us and completion times as integer tables in git (tests/snapshot/transfer_*.txt): a change
// of behaviour is a diff in review. With MRC_UPDATE=1 in the environment they are written afresh.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "engine/congestion_profile.h"
#include "pair/stream.h"

namespace mrc::pair {
namespace {

PairConfig config(int ports) {
  PairConfig c{.ports = ports, .evs_per_port = 64 / ports, .bytes_per_us = 50000.0 / ports, .seed = 7};
  c.limits.send_depth = 256;
  c.congestion = [] {
    return std::move(*engine::make_congestion(
        engine::CcProfile::defaults({.bits_per_second = 400'000'000'000, .base_rtt = 11us})));
  };
  return c;
}

std::string observe(Stream& s, const std::function<void(Stream&, int)>& at) {
  std::ostringstream table;
  table << "# bin of 20 us | MB placed per second | window, bytes | in flight, packets | repairs so far\n";
  for (int bin = 0; bin < 30; ++bin) {
    at(s, bin);
    const auto rate = static_cast<long>(s.rate(20us));
    const auto& r = s.pair().side(0).qp.requestor();
    table << bin << ' ' << rate << ' ' << s.pair().side(0).congestion->window() << ' '
          << r.flight().in_flight() << ' ' << r.counters().repairs << '\n';
  }
  return table.str();
}

std::string completion_times() {
  std::ostringstream table;
  table << "# bytes | ns from post to completion, alone, on 4 planes\n";
  for (std::uint32_t bytes : {0u, 1u, 64u, 4096u, 4097u, 65536u, 1048576u}) {
    PairConfig c = config(4);
    c.memory = 1 << 20;
    Pair p(c);
    p.write(0, 1, 0, bytes);
    p.run_until([&] { return !p.side(0).completions.empty(); }, 10ms);
    table << bytes << ' ' << p.now().time_since_epoch().count() << '\n';
  }
  return table.str();
}

void compare(const std::string& name, const std::string& table) {
  const std::string path = std::string(MRC_SOURCE_DIR) + "/tests/snapshot/transfer_" + name + ".txt";
  if (std::getenv("MRC_UPDATE") != nullptr) std::ofstream(path) << table;
  std::ifstream file(path);
  std::stringstream stored;
  stored << file.rdbuf();
  EXPECT_EQ(stored.str(), table) << path
                                 << " differs; when the change is meant, run this test with MRC_UPDATE=1";
}

TEST(Snapshot, StartOfATransfer) {
  Stream s(config(4));
  compare("start", observe(s, [](Stream&, int) {}));
}

TEST(Snapshot, OnePercentLoss) {
  Stream s(config(4));
  s.pair().network().for_each_lane([](Lane& l) { l.loss = 0.01; });
  compare("loss_1_percent", observe(s, [](Stream&, int) {}));
}

TEST(Snapshot, APlaneDiesAndReturns) {
  Stream s(config(4));
  compare("plane_dies_and_returns", observe(s, [](Stream& t, int bin) {
            if (bin == 10) t.pair().network().for_port(PortId(2), [](Lane& l) { l.dead = true; });
            if (bin == 20) t.pair().network().for_port(PortId(2), [](Lane& l) { l.dead = false; });
          }));
}

TEST(Snapshot, CompletionTimes) { compare("completion_times", completion_times()); }

}  // namespace
}  // namespace mrc::pair
