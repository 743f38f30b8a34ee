// What a hop costs: receive, queue, and leave again, over switches that do not fit the cache.
#include <benchmark/benchmark.h>

#include "base/prng.h"
#include "fabric/switch.h"

namespace mrc::fabric {
namespace {

constexpr std::uint16_t kT0 = 0x4000, kT1 = 0x8000, kHost = 0xE000;

/// `count` T0s of `down` hosts and as many uplinks.
std::vector<Switch> t0s(int count, int down, const LinkSettings& inside, const LinkSettings& last) {
  std::vector<Switch> out;
  for (int i = 0; i < count; ++i) {
    std::vector<Link> links(static_cast<std::size_t>(down), Link(last));
    links.resize(2 * static_cast<std::size_t>(down), Link(inside));
    const auto n = static_cast<std::uint32_t>(down);
    out.emplace_back(SwitchSettings{.usid = static_cast<std::uint16_t>(kT0 + i)},
                     Table({{kHost, n, 1, 0}, {kT1, n, 1, static_cast<std::uint16_t>(down)}}),
                     std::move(links));
  }
  return out;
}

void hop(benchmark::State& state) {
  const LinkSettings inside{.ecn_low = 1'000, .ecn_high = 20'000}, last{.toward_host = true};
  auto switches = t0s(static_cast<int>(state.range(0)), 32, inside, last);
  Prng random(1);
  std::vector<Frame> frames(4096);
  for (Frame& f : frames) f.bytes = 4160;
  PsTime now{};
  std::size_t i = 0;
  for (auto _ : state) {
    Frame& f = frames[i++ % frames.size()];
    const std::uint32_t s = random.below(static_cast<std::uint32_t>(switches.size()));
    f.usid_at = 0;
    f.hop_limit = 64;
    f.usids = {static_cast<std::uint16_t>(kT0 + s), static_cast<std::uint16_t>(kT1 + random.below(32))};
    const auto r = switches[s].receive(f, random);
    now += PsDuration(1'000'000);
    benchmark::DoNotOptimize(switches[s].poll(r.port, now, random));
  }
}
BENCHMARK(hop)->Arg(32)->Arg(1024)->Arg(8192);

}  // namespace
}  // namespace mrc::fabric
