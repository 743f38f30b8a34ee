// What there is to see of a fabric: what it is made of, said once, and how it stands at a moment.
// Simulations, labs and recordings give the same; the web page and `mrc top` show it.
//
// A Frame stands alone: whoever has one needs no other to draw it, so time can be moved through freely.
// docs/operating/web.md describes the JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/facts.h"
#include "topo/topo.h"

namespace mrc::view {

/// Said once, before the first frame.
struct Fabric {
  std::string name;
  std::string source;  // simulation, lab, node, recording
  topo::Spec spec;
  bool actions = false;                  // things can be broken and healed
  bool simulated = false;                // time is the simulation's, and has a pace
  std::vector<std::string> plane_names;  // where planes are ports of devices; empty: they have numbers
};

struct Totals {
  double goodput = 0;  // bits per second, since the frame before; what follows counts from the start
  std::uint64_t delivered = 0;
  std::uint64_t packets = 0, repairs = 0;
  std::uint64_t trims = 0, marks = 0, lost = 0;
};

/// Something that happened on links since the frame before.
struct HopCount {
  std::uint32_t hop = 0;
  std::uint32_t count = 0;
};

struct HopFault {
  enum class Kind : std::uint8_t { down, black_hole, loss, rate };
  std::uint32_t hop = 0;
  Kind kind = Kind::down;
  double amount = 0;  // loss: probability; rate: part of the nominal one
};

/// One direction of one pair of hosts' QP.
struct QpFrame {
  std::uint32_t host = 0, peer = 0;
  double rate = 0;  // bits per second of data sent, since the frame before
  node::QpFacts facts;
};

/// A packet that left the host that is looked at closely.
struct PacketFrame {
  std::uint32_t peer = 0;
  std::uint32_t psn = 0;
  std::uint32_t hops[topo::kMaxHops]{};
  std::uint8_t hop_count = 0;
  bool repair = false;
};

/// What a host is called where it has no name of the topology's.
struct HostName {
  std::uint32_t host = 0;
  std::string name;
};

struct Happening {
  std::int64_t time_ns = 0;
  std::string kind;    // link, path, qp, action, phase
  std::string what;    // a sentence
  std::string target;  // what it is about, by topo's names; may be empty
};

/// Hops in a row: first, first + 1, ...
struct HopRange {
  std::uint32_t first = 0;
  std::vector<std::uint8_t> load, queue;
};

/// A plane seen from afar: its links to hosts, its uplinks and, with three tiers, those of its T1s, each as
/// so many cells with the load of the busiest link in each.
struct Cells {
  std::uint32_t columns = 0, rows = 0;
  std::vector<std::uint8_t> load;  // plane by plane, block by block, row by row; empty: every hop is told
};

struct Frame {
  std::uint64_t number = 0;
  std::int64_t time_ns = 0;  // since the start
  std::int64_t span_ns = 0;  // since the frame before
  bool done = false;         // nothing will follow
  bool paused = false;
  double pace = 0;  // simulated seconds per second; 0: real time
  Totals totals;
  std::vector<double> plane_rate;  // bits per second on the wires to hosts

  // Hops first_hop, first_hop + 1, ...: all of them; one plane's where there are too many; and where even
  // that is too much, the links to hosts of some T0s, and the uplinks of the same ones in `up`.
  std::uint32_t first_hop = 0;
  std::vector<std::uint8_t> load;   // 250 is the link's rate
  std::vector<std::uint8_t> queue;  // 250 is all room for data; empty: unknown
  HopRange up;
  Cells cells;
  std::vector<std::uint8_t> switch_load;  // by switch number: its busiest port; only where hops are missing
  std::vector<HopCount> trims, lost, marks;
  std::vector<HopFault> faults;
  std::uint32_t more_faults = 0;  // beyond those
  std::vector<QpFrame> qps;
  std::uint32_t more_qps = 0;
  std::vector<PacketFrame> packets;
  std::vector<Happening> happenings;
  std::vector<HostName> names;
};

inline constexpr std::uint8_t kFullLoad = 250;
/// Of a part, 1 being everything.
std::uint8_t to_level(double part);

/// Beyond so many directions a frame carries one plane.
inline constexpr std::uint32_t kMostHops = 65536;

/// One line each.
std::string to_json(const Fabric& fabric);
std::string to_json(const Frame& frame, const topo::Topology& topo);

}  // namespace mrc::view
