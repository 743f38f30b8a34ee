// What congestion control costs per packet and per SACK, warm, one destination; and with many destinations in
// turn.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "engine/congestion_profile.h"

namespace {

using namespace mrc;
using namespace mrc::engine;

std::vector<std::unique_ptr<Congestion>> make(CcAlgorithm algorithm, std::int64_t count,
                                              std::uint32_t senders) {
  CcProfile profile = CcProfile::defaults(LinkFacts{});
  profile.algorithm = algorithm;
  std::vector<std::unique_ptr<Congestion>> all;
  for (std::int64_t i = 0; i < count; ++i)
    all.push_back(*make_congestion(profile, {.remote_recv_peers = senders}, static_cast<std::uint32_t>(i)));
  return all;
}

/// One packet out and one SACK for it, in turn over the destinations; the delay wanders through all
/// quadrants.
void send_and_sack(benchmark::State& state, CcAlgorithm algorithm, std::uint32_t senders) {
  auto all = make(algorithm, state.range(0), senders);
  Time now{1ms};
  std::size_t i = 0;
  std::int64_t step = 0;
  for (auto _ : state) {
    Congestion& cc = *all[i];
    if (++i == all.size()) i = 0;
    now += 80ns;
    ++step;
    benchmark::DoNotOptimize(cc.may_send(4184));
    cc.on_send(now, 4184);
    cc.on_sack(now, {.newly = 4184, .rtt = 10us + Duration(step * 37 % 12'000), .ecn = step % 16 == 0});
  }
  state.SetItemsProcessed(state.iterations());
}

void nscc(benchmark::State& s) { send_and_sack(s, CcAlgorithm::nscc, 0); }
void nscc_incast(benchmark::State& s) { send_and_sack(s, CcAlgorithm::nscc, 16); }
void constant(benchmark::State& s) { send_and_sack(s, CcAlgorithm::constant, 0); }
BENCHMARK(nscc)->Arg(1)->Arg(10'000);
BENCHMARK(nscc_incast)->Arg(1);
BENCHMARK(constant)->Arg(1);

/// The usual mix: four packets per SACK.
void nscc_four_to_one(benchmark::State& state) {
  auto all = make(CcAlgorithm::nscc, 1, 0);
  Congestion& cc = *all[0];
  Time now{1ms};
  std::int64_t step = 0;
  for (auto _ : state) {
    for (int i = 0; i < 4; ++i) {
      now += 80ns;
      benchmark::DoNotOptimize(cc.may_send(4184));
      cc.on_send(now, 4184);
    }
    ++step;
    cc.on_sack(now, {.newly = 4 * 4184, .rtt = 10us + Duration(step * 37 % 12'000), .ecn = step % 16 == 0});
  }
  state.SetItemsProcessed(state.iterations() * 4);
}
BENCHMARK(nscc_four_to_one);

}  // namespace

BENCHMARK_MAIN();
