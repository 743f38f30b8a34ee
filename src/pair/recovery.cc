#include "pair/recovery.h"

#include <algorithm>
#include <functional>

#include "pair/stream.h"

namespace mrc::pair {
namespace {

PairConfig base_config(int ports, std::uint64_t seed) {
  PairConfig c{.ports = ports,
               .evs_per_port = 128 / ports,
               .bytes_per_us = 100000.0 / ports,
               .delay = 5us,
               .seed = seed};
  c.limits.send_depth = 512;
  c.limits.mpr = c.limits.mpr_dest = 16;
  return c;
}

double in_rtts(Stream& s, Duration d) {
  return static_cast<double>(d.count()) / static_cast<double>(s.pair().base_rtt().count());
}

/// Evaluates one figure per seed and sums them up.
RecoveryRow over_seeds(std::string name, std::string target, std::string unit, int seeds,
                       const std::function<double(std::uint64_t)>& figure,
                       const std::function<bool(double)>& holds, bool by_median = false) {
  std::vector<double> all;
  for (int i = 1; i <= seeds; ++i) all.push_back(figure(static_cast<std::uint64_t>(i)));
  std::sort(all.begin(), all.end());
  RecoveryRow row{std::move(name),     std::move(target), std::move(unit),
                  all[all.size() / 2], all.front(),       all.back()};
  row.met = by_median ? holds(row.median) : std::all_of(all.begin(), all.end(), holds);
  return row;
}

double spurious_repairs(std::uint64_t seed) {
  PairConfig c = base_config(4, seed);
  Stream s(c);
  Prng prng(seed);
  // From a tenth of an RTT to three RTTs one way: with 16 * 128 PSNs of window, reordering up to that depth.
  s.pair().network().for_each_lane([&](Lane& l) { l.delay = Duration(prng.between(1000, 30000)); });
  s.run(3ms);
  return static_cast<double>(s.pair().side(0).qp.requestor().counters().repairs);
}

double single_loss(std::uint64_t seed) {
  Stream s(base_config(4, seed));
  s.run(200us);
  bool armed = true;
  Prng prng(seed);
  std::uint32_t countdown = prng.below(200);
  s.pair().network().filter = [&](Time, int from, const engine::Transmit& t) {
    if (!armed || from != 0 || !std::holds_alternative<wire::Write>(t.packet.body) || countdown-- > 0)
      return true;
    armed = false;
    s.record().watch = t.packet.psn;
    return false;
  };
  s.run(300us);
  const auto& r = s.record();
  return r.evidence && r.repaired ? in_rtts(s, *r.repaired - *r.evidence) : 99;
}

struct DeadPath {
  double last_packet = 0, back = 0;
};
DeadPath dead_path(std::uint64_t seed) {
  Stream s(base_config(4, seed));
  s.run(200us);
  const double before = s.rate(200us);
  const EvSlot victim(static_cast<std::uint16_t>(Prng(seed).below(128)));
  s.record().keep = true;
  s.pair().network().lane(0, victim.value).dead = true;
  const Time died = s.pair().now();
  const Duration back = s.settled_after(before * 127 / 128 * 0.97, 20us, 1ms);
  s.run(200us);
  std::optional<Time> first;
  Time last = died;
  for (const auto& p : s.record().sent) {
    if (p.slot != victim || p.when < died) continue;
    if (!first) first = p.when;
    last = p.when;
  }
  return {first ? in_rtts(s, last - *first) : 0, in_rtts(s, back)};
}

double under_loss(std::uint64_t seed, double loss, const MakeCongestion& congestion) {
  PairConfig c = base_config(8, seed);
  c.congestion = congestion;
  Stream clean(c), lossy(c);
  lossy.pair().network().for_each_lane([&](Lane& l) { l.loss = loss; });
  clean.run(500us);
  lossy.run(500us);
  return lossy.rate(3ms) / clean.rate(3ms) * 100;
}

/// Packets that a path which drops 20 % carried in the steady state, as a share of what its peers carried.
double gray_path(std::uint64_t seed) {
  PairConfig c = base_config(4, seed);
  c.evs_per_port = 4;
  Stream s(c);
  s.run(200us);
  s.pair().network().lane(0, 5).loss = 0.2;
  s.run(2ms);
  s.record().keep = true;
  s.run(5ms);
  double bad = 0;
  for (const auto& p : s.record().sent) bad += p.slot.value == 5;
  return bad * 16 / static_cast<double>(s.record().sent.size()) * 100;
}

/// Until what the living planes can carry is back, when `dead` of eight planes go at once.
double dead_planes(std::uint64_t seed, int dead, bool event, std::uint8_t mpr = 16) {
  PairConfig c = base_config(8, seed);
  c.limits.mpr = c.limits.mpr_dest = mpr;
  Stream s(c);
  s.run(200us);
  const double before = s.rate(200us);
  const auto first = Prng(seed).below(8);
  for (int i = 0; i < dead; ++i) {
    const PortId port(static_cast<std::uint8_t>(1 + (first + static_cast<unsigned>(i)) % 8));
    if (event)
      s.pair().set_port(0, port, false);
    else
      s.pair().network().for_port(port, [](Lane& l) { l.dead = true; });
  }
  return in_rtts(s, s.settled_after(before * (8 - dead) / 8 * 0.97, 20us, 30ms));
}

double idle_bytes() {
  PairConfig c = base_config(8, 1);
  c.limits = {};
  Pair p(c);
  const auto& qp = p.side(0).qp;
  return static_cast<double>(qp.bytes());
}

}  // namespace

void measure_recovery(int seeds, const MakeCongestion& congestion,
                      const std::function<void(const RecoveryRow&)>& tell) {
  const auto at_most = [](double x) { return [x](double v) { return v <= x; }; };
  const auto at_least = [](double x) { return [x](double v) { return v >= x; }; };
  const auto loss = [&](double p) {
    return [&congestion, p](std::uint64_t s) { return under_loss(s, p, congestion); };
  };
  tell(over_seeds("loss-free, paths of 0.1 to 3 RTT", "0 spurious repairs", "repairs", seeds,
                  spurious_repairs, at_most(0)));
  tell(over_seeds("one random loss, evidence to repair", "<= 1.25 RTT", "RTT", seeds, single_loss,
                  at_most(1.25)));
  tell(over_seeds(
      "a path dies: last data packet on it", "<= 2.25 RTT after the first loss", "RTT", seeds,
      [](std::uint64_t s) { return dead_path(s).last_packet; }, at_most(2.25)));
  tell(over_seeds(
      "a path dies: goodput back", "<= 3 RTT", "RTT", seeds,
      [](std::uint64_t s) { return dead_path(s).back; }, at_most(3)));
  tell(over_seeds("0.1 % loss on all paths", ">= 99 % of loss-free", "%", seeds, loss(0.001), at_least(99),
                  true));
  tell(over_seeds("1 % loss on all paths", ">= 95 % of loss-free", "%", seeds, loss(0.01), at_least(95),
                  true));
  tell(over_seeds("5 % loss on all paths", ">= 80 % of loss-free", "%", seeds, loss(0.05), at_least(80),
                  true));
  tell(over_seeds("a path drops 20 %: its share of the load", "<= 5 % of a good path's", "%", seeds,
                  gray_path, at_most(5), true));
  tell(over_seeds(
      "a plane of 8 dies, port event: 7/8 back", "<= 3 RTT", "RTT", seeds,
      [](std::uint64_t s) { return dead_planes(s, 1, true); }, at_most(3)));
  tell(over_seeds(
      "a plane of 8 dies, no event: 7/8 back", "<= 10 RTT", "RTT", seeds,
      [](std::uint64_t s) { return dead_planes(s, 1, false); }, at_most(10)));
  for (const int dead : {1, 2, 4, 6}) {
    tell(over_seeds(
        std::to_string(dead) + " of 8 planes die, no event, MPR 8", "<= 10 RTT", "RTT", seeds,
        [dead](std::uint64_t s) { return dead_planes(s, dead, false, 8); }, at_most(10)));
  }
  tell(over_seeds(
      "4 of 8 planes die, no event, MPR 16", "<= 10 RTT", "RTT", seeds,
      [](std::uint64_t s) { return dead_planes(s, 4, false); }, at_most(10)));
  tell(over_seeds(
      "idle QP, 128 EVs, MPR 8", "<= 4096 bytes", "bytes", 1, [](std::uint64_t) { return idle_bytes(); },
      at_most(4096)));
}

}  // namespace mrc::pair
