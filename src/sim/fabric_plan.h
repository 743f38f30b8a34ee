// From a topology to the parts that run: numbers of nodes, settings of links, switches with their wires.
//
// Nodes are numbered hosts first, then switches as topo counts them.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/switch.h"
#include "sim/carriage.h"
#include "sim/ps.h"
#include "topo/topo.h"

namespace mrc::sim {

/// Room for data at the ports of each kind, in bytes; 0: by the BDP.
struct PortRooms {
  std::uint32_t to_host = 0, t0_up = 0, t1_down = 0, t1_up = 0, t2_down = 0;
};

/// What a person chooses about queues, for a link of 1 BDP = rate x base RTT.
struct QueueSettings {
  double data_bdp = 1.0;     // room for data
  PortRooms rooms;           // instead of that
  double control_bdp = 8.0;  // and for control and trimmed frames: what an incast leaves of its first windows
  double ecn_low = 0.2;      // of the data room
  double ecn_high = 0.8;
  bool ecn = true;
  bool trim = true;
  std::uint32_t trim_bytes = kLeastTrim;  // on the wire: 128 after Ethernet
  fabric::MarkAt mark_at = fabric::MarkAt::dequeue;
  // Fabrics of baselines:
  bool mark_toward_host = false;  // ports to hosts mark as all others do
  bool lossless = false;          // back-pressure keeps queues short, so none has a limit of its own
};

/// The settings of every kind of link; switches keep pointers into it.
struct LinkPlan {
  fabric::LinkSettings host_up, to_host, t0_up, t1_down, t1_up, t2_down;

  const fabric::LinkSettings& of(topo::LinkKind kind, topo::Direction direction) const;
};

/// Serialisation and propagation of the longest path, there with a data frame and back with a small one.
Ps base_rtt(const topo::Topology& topo, std::uint32_t frame_bytes, std::uint32_t answer_bytes);
/// The same for two hosts.
Ps base_rtt(const topo::Topology& topo, topo::HostId a, topo::HostId b, std::uint32_t frame_bytes,
            std::uint32_t answer_bytes);

LinkPlan plan_links(const topo::Topology& topo, const QueueSettings& queues, Ps rtt);

/// Where a port leads.
struct Wire {
  std::uint32_t node = 0;
  std::uint32_t hop = 0;  // topo::Hop::index()
  bool connected = false;
};

inline std::uint32_t node_number(const topo::Topology& topo, topo::Node n) {
  return n.tier == topo::Tier::host ? n.index : topo.hosts() + topo.switch_number(n);
}
Wire wire_from(const topo::Topology& topo, topo::Attachment end);

struct ForwardingSettings {
  fabric::Forwarding forwarding = fabric::Forwarding::usid;
  fabric::PfcSettings pfc;
};
fabric::Switch make_switch(const topo::Topology& topo, topo::Node sw, const ForwardingSettings& settings,
                           const LinkPlan& plan);

}  // namespace mrc::sim
