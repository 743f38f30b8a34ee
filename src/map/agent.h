// One node's mapper without I/O: which probe leaves when, what its return or its absence says, and when to
// look more closely.
//
//   in:  handle_reply(arrived, host, name, sequence), advance(now)
//   out: poll_probe(now) until it has none, observations(), next()
//
// The owner hands in every reply that it has before it calls advance(now): a probe is lost when time has
// passed and it is not there, so a late owner must not make it late. Memory: some 4 KiB per target.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/counters.h"
#include "map/observation.h"
#include "map/plan.h"

namespace mrc::map {

struct Probe {
  ProbeName name;
  std::uint32_t sequence = 0;
};

enum class Count : std::uint8_t { sent, answered, late, duplicate, refused, looks, relayed, relay_refused };
inline constexpr std::size_t kCounts = 8;
using AgentCounters = Counters<Count, kCounts>;
const char* to_string(Count c);

class Agent {
 public:
  /// `topo` must outlive it.
  Agent(const topo::Topology& topo, HostId host, const Settings& settings);

  void handle_reply(Time arrived, const ProbeName& name, std::uint32_t sequence);
  void advance(Time now);
  std::optional<Probe> poll_probe(Time now);
  /// When to come back: the next probe is due then.
  Time next() const { return next_; }

  std::vector<Observation> observations() const;
  /// Something was judged differently, or a close look has its first word, since the last time it was asked.
  bool take_change() { return std::exchange(changed_, false); }

  HostId host() const { return host_; }
  AgentCounters& counters() { return counters_; }
  const AgentCounters& counters() const { return counters_; }
  std::uint64_t lost() const;
  std::size_t targets() const { return targets_.size(); }

 private:
  struct Target {
    Tally tally;
    bool regular = true;
    Time due;           // of the next probe
    Time fast_until;    // suspected: probed often
    Time wanted_until;  // of a close look,
    ProbeName suspect;  // and whom it is about
    Condition said = Condition::unknown;
    bool answered_once = false;
  };
  using Targets = std::map<ProbeName, Target>;

  bool suspicious(const Target& t) const {
    return t.tally.run() > 0 || t.tally.condition() >= Condition::lossy;
  }
  Targets::const_iterator lower(const ProbeName& name) const;
  bool explained_below(const ProbeName& name, const Target& target) const;
  double loss_to_t0(Plane plane, const Target& in_question) const;
  double loss_to_t0_before(Plane plane) const;
  double usual_loss(const ProbeName& name, const Target& target) const;
  bool clean(const Tally& t) const;
  void ask_below(Time now);
  Duration usual_period(const ProbeName& name) const;
  bool works(const ProbeName& name) const;
  void note_changes(Time now);
  void start_looks(Time now);
  bool keep_looks(Time now, const ProbeName& suspect);
  void look_at(Time now, const ProbeName& suspect);
  std::uint32_t working_uplink(const ProbeName& suspect) const;
  Plane working_plane(Plane not_this) const;
  Duration timeout(const ProbeName& name) const;
  void line_up(Time now);
  void find_next();

  const topo::Topology& topo_;
  HostId host_;
  Settings settings_;
  Targets targets_;
  std::vector<Targets::iterator> due_;  // filled by advance(), emptied by poll_probe()
  std::size_t turns_ = 0;
  Time next_{};
  bool changed_ = false;
  AgentCounters counters_;
};

}  // namespace mrc::map
