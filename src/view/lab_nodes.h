// The mrcds of a lab's hosts, spoken to from outside the lab: QPs, paths, RTT and windows of every program
// there. Hosts without one are looked for again while the lab runs.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "node/daemon_client.h"
#include "view/node_frames.h"

namespace mrc::view {

class LabNodes {
 public:
  /// Forks a guide that goes onto the hosts. REQUIRES: one thread.
  static Result<std::unique_ptr<LabNodes>> open(const std::string& lab, const topo::Topology& topo);
  ~LabNodes();

  /// Asks them, from a thread of its own: one that answers late holds no frame up.
  void start();
  /// Adds what they said last. Returns the number of mrcds that answer.
  std::size_t take(Frame& f);

 private:
  struct Host {
    std::optional<node::DaemonClient> client;
    std::chrono::steady_clock::time_point tried{};
    std::optional<node::Snapshot> last;  // under mutex_
    NodeFrames frames;                   // of who takes
  };

  LabNodes(const topo::Topology& topo, port::Fd guide, int guide_pid);
  void work();
  void ask(std::uint32_t host);
  bool connect(std::uint32_t host);

  const topo::Topology& topo_;
  port::Fd guide_;
  int guide_pid_;
  std::vector<Host> hosts_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
};

}  // namespace mrc::view
