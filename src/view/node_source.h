// A live node as frames: the ports of its devices, and the QPs of its processes with their paths, as its mrcd
// tells. To look at, not to break.
//
// Where the fabric around the node is known, it is drawn, and the node and its peers stand in it by their
// addresses. Where it is not, each port is a plane of one switch, and peers take a place as they appear.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "node/daemon_client.h"
#include "view/node_frames.h"
#include "view/source.h"

namespace mrc::view {

struct NodeSettings {
  std::string socket;                    // of mrcd
  std::optional<topo::Topology> fabric;  // none: a switch per port
  std::chrono::milliseconds every{250};
};

class NodeSource final : public Source {
 public:
  static Result<std::unique_ptr<NodeSource>> attach(const NodeSettings& settings);
  ~NodeSource() override;

  const Fabric& fabric() const override { return fabric_; }
  const topo::Topology& topo() const override { return topo_; }
  void start(Sink sink) override;
  Status act(const Action& action) override;

  static constexpr std::uint32_t kPlaces = 16;  // the node and its peers, where the fabric is unknown

 private:
  struct PortBefore {
    std::uint64_t tx = 0, rx = 0;
    bool up = true, known = false;
  };

  NodeSource(node::DaemonClient client, const topo::Topology& topo, const NodeSettings& settings);
  Status settle(const node::Snapshot& first);
  void work();
  bool take(Frame& f);
  void look_at_ports(const node::Snapshot& s, Frame& f);
  void look_at_port(const node::PortFacts& port, topo::Plane plane, Frame& f);
  std::optional<std::uint32_t> place_of(const node::AddressBytes& address);

  NodeSettings settings_;
  topo::Topology topo_;
  Fabric fabric_;
  node::DaemonClient client_;
  std::uint32_t host_ = 0;
  Sink sink_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;

  // the thread's own
  NodeFrames frames_;
  std::vector<PortBefore> ports_;          // by plane
  std::vector<node::AddressBytes> peers_;  // by place, from 1 on; where the fabric is unknown
  std::uint64_t last_ns_ = 0, sent_ = 0;
};

}  // namespace mrc::view
