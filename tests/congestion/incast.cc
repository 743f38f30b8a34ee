// nscc_incast [key=value ...]: what an incast does under given settings, as one line, or per round with
// trace=1. The figures of docs/decisions/0010-nscc.md come from it.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "engine_world.h"
#include "worlds.h"

using namespace mrc;
using namespace mrc::testing;

namespace {

using Setters = std::map<std::string, std::function<void(double)>>;

template <class T>
std::function<void(double)> into(T& field) {
  return [&field](double v) { field = static_cast<T>(v); };
}

Setters setters(Incast& in, int& trace, int& engine) {
  return {
      {"flows", into(in.flows)},
      {"packets", into(in.packets)},
      {"hint", into(in.hint)},
      {"seed", into(in.seed)},
      {"trace", into(trace)},
      {"engine", into(engine)},
      {"jitter", [&](double v) { in.jitter = Duration(static_cast<std::int64_t>(v)); }},
      {"queue", into(in.link.queue_bdp)},
      {"cut_bdp", into(in.link.cut_bdp)},
      {"cut", into(in.link.trimmed_bytes)},
      {"eager", into(in.link.eager_sacks)},
      {"last_hop", into(in.link.last_hop)},
      {"covers", into(in.cc.qa_covers_flight)},
      {"paced", into(in.cc.pace_below_mtu)},
      {"backoff", into(in.cc.paced_backoff)},
      {"incast", into(in.cc.incast_mode)},
      {"min_share", into(in.cc.min_share)},
      {"near", into(in.cc.fast_delay)},
      {"gain", into(in.cc.incast_gain)},
      {"fast", into(in.cc.incast_fast)},
      {"low", into(in.cc.incast_low)},
      {"step", into(in.cc.incast_step)},
      {"paced_step", into(in.cc.incast_paced_step)},
      {"high", into(in.cc.incast_high)},
  };
}

bool parse(int argc, char** argv, Setters set) {
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto eq = arg.find('=');
    const auto found = set.find(arg.substr(0, eq));
    if (eq == std::string::npos || found == set.end()) {
      std::fprintf(stderr, "nscc_incast: %s is not key=value with one of these keys:", argv[i]);
      for (const auto& [key, unused] : set) std::fprintf(stderr, " %s", key.c_str());
      std::fprintf(stderr, "\n");
      return false;
    }
    found->second(std::atof(arg.c_str() + eq + 1));
  }
  return true;
}

void print_round(int round, Bottleneck& world, const Incast& in) {
  double sum = 0, low = 1e18, high = 0;
  std::uint64_t delivered = 0, trims = 0;
  for (int i = 0; i < in.flows; ++i) {
    delivered += world.stats(i).delivered;
    trims += world.stats(i).trims;
    if (world.stats(i).finished >= 0) continue;
    sum += share_of(world, i);
    low = std::min(low, share_of(world, i));
    high = std::max(high, share_of(world, i));
  }
  const double bdp = in.link.link.bdp(), mtu = in.link.link.mtu;
  std::printf(
      "%4d windows %.2f BDP, %.2f to %.2f MTU; queue %.2f BDP; delivered %lu, trims %lu, idle %.1f us\n",
      round, sum / bdp, low / mtu, high / mtu, static_cast<double>(world.queued_bytes()) / bdp, delivered,
      trims, static_cast<double>(world.idle_picos()) / 1e6);
}

/// The same incast with whole engines.
int run_engines(const Incast& in) {
  EngineWorld world(in.link, in.flows, [&](int i) {
    return std::make_unique<engine::Nscc>(in.cc, engine::CongestionHints{.remote_recv_peers = in.hint},
                                          static_cast<std::uint32_t>(i) * 7 + in.seed);
  });
  for (int i = 0; i < in.flows; ++i) world.offer(i, static_cast<std::uint32_t>(in.packets), in.start_of(i));
  world.run(1s);
  Figures f;
  std::uint64_t data = 0, sacks = 0, losses = 0, retries = 0;
  for (int i = 0; i < in.flows; ++i) {
    const EngineFlowStats& s = world.stats(i);
    data += s.data;
    sacks += s.sacks;
    losses += world.requestor(i).repairs - s.nacks;
    retries += world.requestor(i).retries;
    note(f, s.trims, s.finished, in);
  }
  std::printf(
      "engines, %d:1 x %lu packets, hint %u: trims/packet %.3f max/ideal %.4f first/ideal %.3f unfinished "
      "%d; SACKs/packet %.2f, "
      "repairs beyond NACKs %lu, retries %lu, idle %.1f us\n",
      in.flows, in.packets, in.hint, f.trims_per_packet, f.max_over_ideal, f.first_over_ideal, f.unfinished,
      static_cast<double>(sacks) / static_cast<double>(data), losses, retries,
      static_cast<double>(world.idle_picos()) / 1e6);
  return f.unfinished == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Incast in;
  int trace = 0, engines = 0;
  if (!parse(argc, argv, setters(in, trace, engines))) return 2;
  if (engines != 0) return run_engines(in);
  const auto world = in.make();
  for (int round = 1; trace != 0 && round <= trace; ++round) {
    world->run(in.link.base_rtt() * round);
    print_round(round, *world, in);
  }
  world->run(1s);
  const Figures f = figures(*world, in);
  std::printf(
      "%d:1 x %lu packets, hint %u: trims/packet %.3f max/ideal %.4f first/ideal %.3f unfinished %d\n",
      in.flows, in.packets, in.hint, f.trims_per_packet, f.max_over_ideal, f.first_over_ideal, f.unfinished);
  return f.unfinished == 0 ? 0 : 1;
}
