// Incasts with whole engines: what bottleneck.h assumes of requestor and responder holds.
#include <gtest/gtest.h>

#include "engine_world.h"
#include "worlds.h"

namespace mrc::testing {
namespace {

struct Outcome {
  Figures figures;
  std::uint64_t needless = 0, retries = 0;  // repairs that no NACK asked for; timeouts
};

Outcome run(const Incast& in) {
  EngineWorld world(in.link, in.flows, [&](int i) {
    return std::make_unique<engine::Nscc>(in.cc, engine::CongestionHints{.remote_recv_peers = in.hint},
                                          static_cast<std::uint32_t>(i) * 7 + in.seed);
  });
  for (int i = 0; i < in.flows; ++i) world.offer(i, static_cast<std::uint32_t>(in.packets), in.start_of(i));
  world.run(1s);
  Outcome out;
  for (int i = 0; i < in.flows; ++i) {
    note(out.figures, world.stats(i).trims, world.stats(i).finished, in);
    out.needless += world.requestor(i).repairs - world.stats(i).nacks;
    out.retries += world.requestor(i).retries;
  }
  return out;
}

struct Case {
  int flows;
  std::uint64_t packets;
  std::uint32_t hint;
  Duration jitter;
  double most_trims, most_time;
};

class EngineIncast : public ::testing::TestWithParam<Case> {};

TEST_P(EngineIncast, EndsInTimeWithFewTrims) {  // MRC-CC-015 MRC-CC-018 MRC-CC-019
  const Case c = GetParam();
  Incast in;
  in.flows = c.flows;
  in.packets = c.packets;
  in.hint = c.hint;
  in.jitter = c.jitter;
  const Outcome o = run(in);
  EXPECT_EQ(o.figures.unfinished, 0) << "a few bytes of rounding must not shut a window of one packet";
  EXPECT_LE(o.figures.trims_per_packet, c.most_trims);
  EXPECT_LE(o.figures.max_over_ideal, c.most_time);
  EXPECT_EQ(o.needless, 0u) << "nothing was lost but what was trimmed";
  EXPECT_EQ(o.retries, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, EngineIncast,
    ::testing::Values(Case{8, 490, 0, 1us, 0.35, 1.12}, Case{32, 490, 0, 0us, 0.35, 1.03},
                      Case{32, 490, 0, 1us, 0.35, 1.03}, Case{100, 490, 0, 0us, 0.35, 1.03},
                      Case{100, 490, 0, 1us, 0.35, 1.02}, Case{512, 25, 0, 0us, 1.2, 1.25},
                      Case{32, 490, 32, 0us, 0.05, 1.02}, Case{100, 490, 100, 1us, 0.05, 1.01},
                      Case{512, 25, 512, 1us, 0.1, 1.25}));

}  // namespace
}  // namespace mrc::testing
