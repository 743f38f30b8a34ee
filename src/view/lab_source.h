// A running lab as frames: what its interfaces carry, what is broken in it, what the mrcds of its hosts tell
// of their QPs, and the means to break more.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "lab/lab.h"
#include "view/lab_counters.h"
#include "view/lab_nodes.h"
#include "view/source.h"

namespace mrc::view {

class LabSource final : public Source {
 public:
  /// Of a lab that runs. REQUIRES: one thread.
  static Result<std::unique_ptr<LabSource>> attach(const std::string& name, std::chrono::milliseconds every);
  ~LabSource() override;

  const Fabric& fabric() const override { return fabric_; }
  const topo::Topology& topo() const override { return topo_; }
  void start(Sink sink) override;
  Status act(const Action& action) override;

 private:
  LabSource(lab::Lab lab, const topo::Topology& topo, std::chrono::milliseconds every)
      : topo_(topo), every_(every), lab_(std::move(lab)) {}
  void work();
  bool take(Frame& f);
  void look_at_faults(const std::string& status, Frame& f);
  void tell_changes(Frame& f);

  topo::Topology topo_;
  Fabric fabric_;
  const std::chrono::milliseconds every_;
  std::optional<LabCounters> counters_;
  std::unique_ptr<LabNodes> nodes_;
  Sink sink_;
  std::thread thread_;

  std::mutex mutex_;  // what follows
  lab::Lab lab_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::vector<Happening> done_;

  // the thread's own
  std::vector<HopReading> before_;
  std::uint64_t delivered_ = 0, lost_ = 0, packets_ = 0;
  std::set<std::uint32_t> broken_;  // links
};

}  // namespace mrc::view
