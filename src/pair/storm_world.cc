#include "pair/storm_world.h"

#include <algorithm>

namespace mrc::pair {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : prng_(seed * 0x9E3779B97F4A7C15 + 1) { world_.config.seed = seed; }

  World make() {
    shape();
    weather();
    traffic();
    trouble();
    // Drawn last, so that the rest of a seed's world is what it was before there was a choice.
    world_.config.requestor.tail_eighths = static_cast<std::uint8_t>(one_in(3) ? pick(8, 24) : 0);
    return std::move(world_);
  }

 private:
  std::uint32_t pick(std::uint32_t low, std::uint32_t high) { return low + prng_.below(high - low + 1); }
  bool one_in(std::uint32_t n) { return prng_.below(n) == 0; }

  void shape() {
    PairConfig& c = world_.config;
    c.ports = static_cast<int>(pick(1, 8));
    c.evs_per_port = static_cast<int>(pick(1, 24));
    c.bytes_per_us = pick(100, 25000);
    c.delay = Duration(pick(500, 50000));
    c.psn[0] = Psn(one_in(2) ? pick(0xFFFF00, 0xFFFFFF) : pick(0, 0xFFFFFF));
    c.psn[1] = Psn(pick(0, 0xFFFFFF));
    c.limits.path_mtu = static_cast<std::uint16_t>(256u << pick(0, 4));
    c.limits.mpr = c.limits.mpr_dest = static_cast<std::uint8_t>(pick(8, 12));
    c.limits.send_depth = c.limits.recv_depth = static_cast<std::uint16_t>(pick(4, 64));
    c.limits.max_wimm = c.limits.max_wimm_dest = static_cast<std::uint16_t>(pick(1, 40));
    c.limits.dynamic_mpr = one_in(4);
    c.paths.spray_unit = static_cast<std::uint8_t>(one_in(3) ? pick(2, 8) : 1);
    c.paths.active_per_plane = static_cast<std::uint16_t>(one_in(3) ? pick(1, 16) : 0);
    c.paths.min_active = static_cast<std::uint16_t>(one_in(4) ? pick(1, 8) : 1);
    c.responder.out_of_window = one_in(2) ? engine::WindowPolicy::nack : engine::WindowPolicy::drop;
    c.responder.sack_bytes = 1024u << pick(0, 5);
    c.requestor.timestamps = !one_in(4);
    c.requestor.timeout = static_cast<std::uint8_t>(pick(8, 14));
    world_.may_fail = one_in(10);
    c.requestor.exponential_retries =
        world_.may_fail ? static_cast<std::uint8_t>(pick(0, 4)) : engine::kRetryForEver;
    c.records = one_in(4) ? pick(256, 512) : 4096;
  }

  void weather() {
    const auto evs = static_cast<std::size_t>(world_.config.ports * world_.config.evs_per_port);
    const double loss = one_in(2) ? 0 : prng_.unit() * 0.2, duplicate = one_in(3) ? prng_.unit() * 0.1 : 0;
    const double trim = one_in(3) ? prng_.unit() * 0.3 : 0, mark = one_in(3) ? prng_.unit() * 0.5 : 0;
    const double corrupt = one_in(4) ? prng_.unit() * 0.05 : 0;
    const bool uneven = one_in(2);
    const auto jitter = Duration(one_in(2) ? pick(0, 20000) : 0);
    for (auto& direction : world_.lanes) {
      for (std::size_t i = 0; i < evs; ++i) {
        Lane l{.delay = world_.config.delay,
               .loss = loss,
               .duplicate = duplicate,
               .trim = trim,
               .mark = mark,
               .corrupt = corrupt,
               .jitter = jitter};
        if (uneven) l.delay = Duration(pick(500, 100000));
        if (uneven && one_in(8)) l.loss = std::min(0.9, loss + prng_.unit());
        direction.push_back(l);
      }
    }
    // A lost NACK of a trimmed packet looks like a loss, and takes its EV out for a while.
    world_.balanced = !uneven && loss == 0 && corrupt == 0 && trim == 0;
  }

  void traffic() {
    const std::uint32_t count = pick(1, 30);
    const std::uint32_t longest = world_.config.limits.path_mtu * pick(1, 40);
    const bool both = one_in(2), imm = one_in(2);
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t length = one_in(12) ? 0 : pick(1, longest);
      at += one_in(3) ? pick(0, 200) : 0;
      world_.posts.push_back({Duration(at * 1000), both && one_in(2) ? 1 : 0, length, imm && one_in(2)});
    }
    std::size_t total = 0;
    for (const auto& p : world_.posts) total += p.length;
    world_.config.memory = total + 64;
  }

  void trouble() {
    static constexpr FaultKind kKinds[] = {
        FaultKind::kill_path,  FaultKind::kill_one_way, FaultKind::heal_path,
        FaultKind::kill_plane, FaultKind::port_down,    FaultKind::port_up,
        FaultKind::deny,       FaultKind::allow,        FaultKind::pause};
    const auto evs = static_cast<std::uint32_t>(world_.config.ports * world_.config.evs_per_port);
    std::uint32_t at = 0;
    for (std::uint32_t i = one_in(3) ? 0 : pick(1, 12); i > 0; --i) {
      at += pick(0, 400);
      world_.faults.push_back({.at = Duration(at * 1000),
                               .kind = kKinds[prng_.below(std::size(kKinds))],
                               .side = static_cast<int>(prng_.below(2)),
                               .slot = static_cast<std::uint16_t>(prng_.below(evs)),
                               .port = PortId(static_cast<std::uint8_t>(
                                   pick(1, static_cast<std::uint32_t>(world_.config.ports)))),
                               .length = Duration(pick(1, 3000) * 1000)});
      world_.balanced = false;
    }
    if (world_.may_fail && one_in(3)) {
      world_.faults.push_back({.at = Duration((at + pick(0, 100)) * 1000), .kind = FaultKind::restart});
      world_.balanced = false;
    }
    world_.heal_at = Duration((at + pick(100, 3000)) * 1000);
  }

  Prng prng_;
  World world_;
};

}  // namespace

World make_world(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace mrc::pair
