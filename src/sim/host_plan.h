// What all hosts of a run have in common: settings, tables, the workload. Read-only while it runs, but for
// the workload, which keeps its own state per host.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/congestion_profile.h"
#include "engine/events.h"
#include "engine/settings.h"
#include "nic/qp.h"
#include "nic/settings.h"
#include "sim/carriage.h"
#include "sim/fabric_plan.h"
#include "sim/fault.h"
#include "sim/roce_settings.h"
#include "sim/wire_path.h"
#include "sim/workload.h"
#include "topo/topo.h"

namespace mrc::sim {

enum class Transport : std::uint8_t {
  mrc,   // the NIC and engine that ship
  roce,  // the baseline: RoCEv2 as it is usually run, hashed paths, go-back-N, DCQCN, PFC
};

/// What decides how often an EV stands in a host's set.
enum class EvsBy : std::uint8_t {
  path,      // each path once, whatever it carries
  capacity,  // as its links are at the start, which a controller knows; what changes later is not known
};

struct HostSettings {
  Transport transport = Transport::mrc;
  RoceSettings roce;  // for that transport
  std::uint16_t path_mtu = 4096;
  std::uint16_t evs = 128;  // per QP, the same number in each plane; fewer where the fabric has fewer
  EvsBy evs_by = EvsBy::path;
  std::uint16_t qps_per_pair = 1;
  std::uint16_t send_depth = 8;  // writes under way per QP; more wait in the host
  std::uint16_t recv_depth = 32;
  std::uint32_t write_bytes = 1u << 30;  // a longer message is several writes
  std::uint32_t packets_in_flight = 0;   // records of the NIC; 0: a window's worth and some per QP
  std::uint8_t mpr = engine::kMinMpr;
  Ps connect_time = 0;              // from a pair's QPs to its first write: what a program takes to set it up
  Ps retire_after = 1'000'000'000;  // a pair idle for so long gives its QPs up; 0: never
  engine::PathSettings paths;
  engine::RequestorSettings requestor;
  engine::ResponderSettings responder{.sack_bytes = 32 * 1024};  // every byte of SACKs is one of data less
  engine::CcAlgorithm congestion = engine::CcAlgorithm::nscc;
  // Of the CC profile; 0: as published for the fabric.
  std::uint32_t window = 0;  // bytes in flight per destination at most, and at the start (1.5 BDP)
  Ps target_delay = 0;       // the queueing delay that NSCC settles at (0.75 base RTT where switches trim)
  engine::CongestionHints hints;
  Encapsulation encapsulation;
  bool wire = false;  // packets travel as bytes, through the codec: the same results, slower
  std::uint64_t seed = 1;
  Host traced = UINT32_MAX;  // the host whose engine speaks to `sink`
  engine::EventSink* sink = nullptr;
};

class HostPlan {
 public:
  HostPlan(const topo::Topology& topology, const LinkPlan& link_plan, const HostSettings& host_settings,
           bool trimming, Workload& load, std::span<const Stroke> strokes = {});

  const topo::Topology& topo;
  const LinkPlan& links;
  const HostSettings settings;
  Workload& workload;
  const std::unique_ptr<WirePath> wire;  // where packets travel as bytes
  Ps signal_delay = 0;                   // between hosts, outside the fabric: a link's

  nic::NicLimits nic_limits(Host host) const;
  /// The EVs that a host sends by.
  const nic::PathTable& paths(Host host) const;
  engine::CcProfile cc_profile() const;
  /// The least time that a message of `bytes` takes on an empty fabric, from its request to its last byte at
  /// the receiver.
  Ps alone(Host a, Host b, std::uint64_t bytes) const;
  /// What a message of `bytes` puts on the wire, headers included.
  double wire_bytes(std::uint64_t bytes) const;
  /// Bytes of a full data packet, on the wire.
  std::uint32_t full_frame() const;

 private:
  void make_paths();
  void make_paths_by_capacity(std::span<const Stroke> strokes);
  std::uint32_t frame(std::uint64_t payload, bool last = false) const;

  bool trimming_;
  bool by_capacity_ = false;  // tables by T0, not by downlink
  std::vector<nic::PathTable> tables_;
};

/// NIC addresses in the simulator are host numbers.
nic::Gid gid_of(Host host);
Host host_of(const nic::Gid& gid);

}  // namespace mrc::sim
