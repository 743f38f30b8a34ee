// Windows per round as integer tables in git (tests/snapshot/nscc_*.txt): a change of behaviour is a diff in
// review. nscc_snapshot_test --update writes them afresh.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "worlds.h"

namespace mrc::testing {
namespace {

bool update = false;

/// One row per base_rtt: the windows of the flows shown, the queue, and what was delivered and trimmed in
/// all.
std::string table(Bottleneck& world, const BottleneckConfig& link, int flows, int shown, int rounds,
                  const std::function<void(int)>& before_round = {}) {
  std::ostringstream out;
  out << "round queue delivered trims losses windows\n";
  for (int round = 1; round <= rounds; ++round) {
    if (before_round) before_round(round);
    world.run(link.base_rtt() * round);
    std::uint64_t delivered = 0, trims = 0, losses = 0;
    for (int i = 0; i < flows; ++i) {
      delivered += world.stats(i).delivered;
      trims += world.stats(i).trims;
      losses += world.stats(i).losses;
    }
    out << round << ' ' << world.queued_bytes() << ' ' << delivered << ' ' << trims << ' ' << losses;
    for (int i = 0; i < shown; ++i) out << ' ' << static_cast<std::uint64_t>(share_of(world, i));
    out << '\n';
  }
  return out.str();
}

void compare(const char* name, const std::string& now) {
  const std::string path = std::string(MRC_SOURCE_DIR) + "/tests/snapshot/nscc_" + name + ".txt";
  if (update) {
    std::ofstream(path) << now;
    return;
  }
  std::ifstream in(path);
  std::stringstream stored;
  stored << in.rdbuf();
  EXPECT_EQ(stored.str(), now) << path
                               << " differs; when the change is meant, run nscc_snapshot_test --update";
}

Incast endless(int flows) {
  Incast in;
  in.flows = flows;
  in.packets = 1'000'000;
  return in;
}

TEST(Snapshot, IdleToFull) {
  Incast in = endless(1);
  in.hint = 97;  // starts with one and a half packets, and finds itself alone
  in.cc.incast_mode = false;
  const auto world = in.make();
  compare("idle_to_full", table(*world, in.link, 1, 1, 40));
}

TEST(Snapshot, IdleToFullWithAnUntruthfulHint) {
  Incast in = endless(1);
  in.hint = 97;
  const auto world = in.make();
  compare("untruthful_hint", table(*world, in.link, 1, 1, 20));
}

TEST(Snapshot, JoinAtAMarkingQueueAsPublished) {
  Incast in = endless(0);
  in.flows = 4;
  in.cc = published(in.link.link);
  in.link.last_hop = false;
  in.packets = 0;
  const auto world = in.make();
  for (int i = 0; i < 4; ++i) world->offer(i, 1'000'000, in.link.base_rtt() * (i * 20));
  compare("join_marking", table(*world, in.link, 4, 4, 100));
}

TEST(Snapshot, JoinAtTheReceiversPort) {
  Incast in = endless(0);
  in.flows = 8;
  in.packets = 0;
  const auto world = in.make();
  for (int i = 0; i < 8; ++i) world->offer(i, 1'000'000, i == 0 ? 0us : in.link.base_rtt() * 10);
  compare("join_incast", table(*world, in.link, 8, 8, 80));
}

TEST(Snapshot, IncastWithAndWithoutHint) {
  Incast in = endless(100);
  compare("incast_100", table(*in.make(), in.link, 100, 4, 40));
  in.hint = 100;
  compare("incast_100_hint", table(*in.make(), in.link, 100, 4, 40));
}

TEST(Snapshot, TrimBurstInsideTheFabric) {
  Incast in = endless(1);
  const auto world = in.make();
  const auto burst = [&](int round) {
    if (round != 10) return;
    for (int i = 0; i < 50; ++i) world->lose_next(/*trimmed=*/true);
  };
  in.link.last_hop = false;
  compare("trim_burst", table(*world, in.link, 1, 1, 30, burst));
}

TEST(Snapshot, LossBurst) {
  Incast in = endless(1);
  const auto world = in.make();
  const auto burst = [&](int round) {
    if (round != 10) return;
    for (int i = 0; i < 50; ++i) world->lose_next(/*trimmed=*/false);
  };
  compare("loss_burst", table(*world, in.link, 1, 1, 30, burst));
}

TEST(Snapshot, PenaltyAndRestore) {
  Incast in = endless(1);
  const auto world = in.make();
  const auto receiver = [&](int round) {
    if (round == 10) world->set_penalty(64, false);
    if (round == 14) world->set_penalty(0, true);
  };
  compare("penalty_restore", table(*world, in.link, 1, 1, 25, receiver));
}

}  // namespace
}  // namespace mrc::testing

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--update") == 0) mrc::testing::update = true;
  return RUN_ALL_TESTS();
}
