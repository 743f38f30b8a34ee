// Things that go wrong during a run: what a person says, and the strokes at links that come of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/ps.h"
#include "topo/topo.h"

namespace mrc::sim {

enum class FaultKind : std::uint8_t {
  down,        // both ends know
  black_hole,  // nobody knows
  one_way,     // `target` is a hop: that direction is a black hole
  lossy,       // frames vanish with probability `amount`
  slow,        // at `amount` times its speed
};

/// `target` by topo's names: a link h17-p0.t0.3, a hop p0.t1.2>p0.t0.3, a switch p0.t1.2, a plane p3, a NIC
/// port h17.p3.
struct Fault {
  FaultKind kind = FaultKind::down;
  std::string target;
  Ps at = 0;
  Ps until = kNeverPs;  // healed then
  Ps every = 0;         // strikes again after this (a flap); 0: once
  std::uint32_t times = 1;
  double amount = 0;
};

/// Rates of random faults, per link, as fleets report them.
struct FaultRates {
  double flaps_per_link_hour = 0;
  Ps flap_length = 0;
  double failures_per_link_hour = 0;  // down until the end
  Ps over = 0;                        // the time in which they happen
  std::uint64_t seed = 1;
};

/// One change of one link direction, at its sending end.
struct Stroke {
  enum class What : std::uint8_t { up, down, black_hole, loss, rate };
  Ps when = 0;
  topo::Hop hop;
  What what = What::up;
  double amount = 0;
  /// The hosts at either end of a host link learn of it.
  bool seen() const { return what == What::up || what == What::down; }
};

/// One direction that something is wrong with, for a while.
struct Spell {
  topo::Hop hop;
  FaultKind kind = FaultKind::down;
  double amount = 0;
  Ps at = 0;
  Ps until = kNeverPs;
};

/// More would be a slip in a rate or a count, not an experiment.
inline constexpr double kMostSpells = 5e6;

/// Refuses targets that do not exist and times that make no sense, with a sentence.
Result<std::vector<Spell>> plan_spells(const topo::Topology& topo, const std::vector<Fault>& faults);
Result<std::vector<Spell>> random_spells(const topo::Topology& topo, const FaultRates& rates);

/// What links do in all these spells, in order of time. Where spells of a direction overlap, it is as bad as
/// the worst of them, and well when the last of them is over.
std::vector<Stroke> strokes_of(const std::vector<Spell>& spells);

Result<std::vector<Stroke>> plan_faults(const topo::Topology& topo, const std::vector<Fault>& faults);

}  // namespace mrc::sim
