// A scenario that runs while somebody watches: at a pace for eyes, with faults by hand, and again from the
// beginning.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "scenario/prepare.h"
#include "view/source.h"
#include "view/world_frames.h"

namespace mrc::view {

struct SimSettings {
  double pace = 0;  // simulated seconds per second; 0: so that what the scenario names takes half a minute
  std::chrono::milliseconds frame_every{100};
  std::optional<sim::Host> host;  // whose packets and QPs are looked at; none: the first that sends
};

class SimSource final : public Source {
 public:
  /// Prepares it once, so that what is wrong with it is said here.
  static Result<std::unique_ptr<SimSource>> make(scenario::Scenario scenario, const SimSettings& settings);
  ~SimSource() override;

  const Fabric& fabric() const override { return fabric_; }
  const topo::Topology& topo() const override { return topo_; }
  void start(Sink sink) override;
  Status act(const Action& action) override;

 private:
  using Clock = std::chrono::steady_clock;

  SimSource(scenario::Scenario scenario, const SimSettings& settings, const topo::Topology& topo);
  void work();
  void run_once(scenario::Prepared& prepared);
  void adopt_host(scenario::Prepared& prepared);
  bool watch(sim::World& world, const sim::Progress& progress);
  void obey(sim::World& world);
  void show(Frame frame);
  void tell_phases(Frame& frame);
  bool keep_pace(sim::Ps now);
  Status plan(const Action& action);
  void note_action(const Action& action);

  scenario::Scenario scenario_;
  SimSettings settings_;
  topo::Topology topo_;
  Fabric fabric_;
  Sink sink_;
  std::thread thread_;

  std::mutex mutex_;  // what follows
  std::condition_variable changed_;
  bool ending_ = false, paused_ = false, restart_ = false;
  double pace_;
  Focus focus_;
  std::vector<sim::Stroke> strokes_;
  std::vector<Happening> done_;  // actions that the next frame tells

  // the thread's own
  std::unique_ptr<WorldFrames> frames_;
  PacketSampler packets_;
  std::uint64_t shown_ = 0;
  sim::Ps next_frame_ = 0, least_frame_ = 0, paced_from_ = 0;
  Clock::time_point paced_at_{}, last_frame_{};
  double paced_with_ = 0;
  std::size_t phase_ = 0;
};

}  // namespace mrc::view
