#include "pair/storm.h"

#include <algorithm>

#include "pair/storm_oracle.h"
#include "pair/storm_world.h"

namespace mrc::pair {
namespace {

constexpr Duration kBound =
    20s;  // after healing: the longest probe interval, retries with doubling, and then some

class Storm {
 public:
  explicit Storm(std::uint64_t seed)
      : world_(make_world(seed)), oracle_(world_), pair_(world_.config, &oracle_) {
    for (int i = 0; i < 2; ++i) {
      for (std::size_t s = 0; s < world_.lanes[i].size(); ++s)
        pair_.network().lane(i, s) = world_.lanes[i][s];
    }
    oracle_.watch(pair_);
  }

  StormOutcome run(bool planted) {
    while (next_time() < world_.heal_at && oracle_.good()) {
      advance_to(next_time());
      act();
    }
    advance_to(world_.heal_at);
    heal();
    while (next_post_ < world_.posts.size() && oracle_.good()) {
      advance_to(std::max(pair_.now() - Time{}, world_.posts[next_post_].at));
      act();
    }
    pair_.run_until([&] { return oracle_.all_done() || !oracle_.good(); }, kBound);
    if (planted) pair_.side(1).memory.place(CountingMemory::kBase, 1);
    return oracle_.verdict(pair_);
  }

 private:
  Duration next_time() const {
    const Duration post = next_post_ < world_.posts.size() ? world_.posts[next_post_].at : Duration::max();
    const Duration fault =
        next_fault_ < world_.faults.size() ? world_.faults[next_fault_].at : Duration::max();
    return std::min(post, fault);
  }

  void advance_to(Duration at) {
    const Time until = Time{} + at;
    if (until > pair_.now()) pair_.run_until([&] { return !oracle_.good(); }, until - pair_.now());
  }

  void act() {
    const Duration now = std::max(pair_.now() - Time{}, next_time());
    for (; next_post_ < world_.posts.size() && world_.posts[next_post_].at <= now; ++next_post_)
      post(world_.posts[next_post_]);
    for (; next_fault_ < world_.faults.size() && world_.faults[next_fault_].at <= now; ++next_fault_)
      apply(world_.faults[next_fault_]);
    pair_.kick();
  }

  void post(const Post& p) {
    if (p.imm) {
      while (pair_.side(1 - p.from).qp.post_receive(receives_) == ENOMEM) {
        if (!wait_for_room()) return;
      }
      oracle_.note_receive(1 - p.from, receives_++);
    }
    const auto imm = p.imm ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(works_)) : std::nullopt;
    while (pair_.write(p.from, works_, offset_[p.from], p.length, imm).error == ENOMEM) {
      if (!wait_for_room()) return;
    }
    oracle_.note_post(p.from, works_++, offset_[p.from], p.length, imm);
    offset_[p.from] += p.length;
  }

  /// A full queue empties in time, or the storm has found something.
  bool wait_for_room() {
    if (pair_.now() - Time{} > world_.heal_at)
      pair_.run_for(1ms);
    else
      pair_.run_for(100us);
    if (pair_.now() - Time{} >= world_.heal_at && !healed_) heal();
    return oracle_.good() && pair_.now() - Time{} < world_.heal_at + kBound;
  }

  void apply(const Fault& f) {
    auto& net = pair_.network();
    switch (f.kind) {
      case FaultKind::kill_path: net.lane(0, f.slot).dead = net.lane(1, f.slot).dead = true; break;
      case FaultKind::kill_one_way: net.lane(f.side, f.slot).dead = true; break;
      case FaultKind::heal_path: net.lane(0, f.slot).dead = net.lane(1, f.slot).dead = false; break;
      case FaultKind::kill_plane: net.for_port(f.port, [](Lane& l) { l.dead = true; }); break;
      case FaultKind::port_down: pair_.set_port(f.side, f.port, false); break;
      case FaultKind::port_up: pair_.set_port(f.side, f.port, true); break;
      case FaultKind::deny:
        pair_.side(f.side).qp.set_ev_state(pair_.now(), EvSlot(f.slot), engine::EvState::denied);
        break;
      case FaultKind::allow:
        pair_.side(f.side).qp.set_ev_state(pair_.now(), EvSlot(f.slot), engine::EvState::good);
        break;
      case FaultKind::pause: pair_.pause(f.side, f.length); break;
      case FaultKind::restart:
        pair_.side(1).qp.modify(pair_.now(), engine::QpState::error);
        oracle_.note_restart();
        break;
    }
  }

  void heal() {
    if (healed_) return;
    healed_ = true;
    pair_.network().for_each_lane(
        [](Lane& l) { l = Lane{.delay = l.delay, .last_arrival = l.last_arrival}; });
    for (int i = 0; i < 2; ++i) {
      for (std::size_t s = 0; s < pair_.paths().size(); ++s) {
        pair_.side(i).qp.set_ev_state(pair_.now(), EvSlot(static_cast<std::uint16_t>(s)),
                                      engine::EvState::good);
      }
      for (int p = 1; p <= world_.config.ports; ++p)
        pair_.set_port(i, PortId(static_cast<std::uint8_t>(p)), true);
    }
    next_fault_ = world_.faults.size();
    pair_.kick();
  }

  World world_;
  StormOracle oracle_;
  Pair pair_;
  std::size_t next_post_ = 0, next_fault_ = 0;
  std::uint64_t works_ = 0, receives_ = 0;
  std::uint32_t offset_[2] = {0, 0};
  bool healed_ = false;
};

}  // namespace

StormOutcome run_storm(std::uint64_t seed, bool planted) { return Storm(seed).run(planted); }

}  // namespace mrc::pair
