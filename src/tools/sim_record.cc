#include "tools/sim_record.h"

#include "view/world_frames.h"

namespace mrc::tools {
namespace {

/// What a recording keeps while the world runs.
struct Recording {
  Recording(const topo::Topology& topology, view::Recorder& to, sim::Ps interval)
      : topo(topology), frames(topology), recorder(to), every(interval) {}

  void look(sim::World& world, const sim::Progress& p) {
    if (p.now < next) return;
    next = p.now + every;
    recorder.add(view::to_json(frames.take(world, p, {}, packets), topo));
  }

  const topo::Topology& topo;
  view::WorldFrames frames;
  view::PacketSampler packets;
  view::Recorder& recorder;
  sim::Ps every, next = 0;
};

}  // namespace

Result<std::unique_ptr<view::Recorder>> record_scenario(const ScenarioOptions& options,
                                                        const scenario::Scenario& s,
                                                        const scenario::Prepared& prepared,
                                                        scenario::Wanted& wanted) {
  if (options.record.empty()) return std::unique_ptr<view::Recorder>();
  const auto every = topo::parse_delay(options.record_every);
  if (!every) return every.error();
  if (every->count() <= 0) return Error{EINVAL, "--record-every needs a time such as 10us"};
  if (prepared.world.ranks != nullptr)
    return Error{EINVAL, "a recording needs all nodes in one process; run without mpirun"};
  auto recorder =
      view::Recorder::open(options.record, {s.name, "simulation", prepared.topology.spec(), false, true});
  if (!recorder) return recorder.error();
  auto state = std::make_shared<Recording>(prepared.topology, **recorder, sim::to_ps(*every));
  wanted.look = [state](sim::World& world, const sim::Progress& p) { state->look(world, p); };
  return recorder;
}

}  // namespace mrc::tools
