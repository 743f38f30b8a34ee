// Frames of a simulated world: what its links and QPs did since the frame before.
#pragma once

#include <map>
#include <vector>

#include "sim/world.h"
#include "view/frame.h"

namespace mrc::view {

/// Keeps the last packets that one host sent, until they are looked at.
class PacketSampler final : public engine::EventSink {
 public:
  static constexpr std::size_t kMost = 32;
  struct Sent {
    Qpn qpn;
    engine::PacketSent packet;
  };
  void on_event(const engine::Event& event) override;
  std::vector<Sent> take();

 private:
  std::vector<Sent> ring_;
  std::size_t next_ = 0;
};

struct Focus {
  topo::Plane plane = 0;  // whose hops are told, where there are too many for all
  std::uint32_t t0 = 0;   // around which T0, where even a plane is too much
  sim::Host host = 0;     // whose QPs come first
};

class WorldFrames {
 public:
  explicit WorldFrames(const topo::Topology& topo);

  /// REQUIRES: called from the world's watch, or after its run.
  Frame take(sim::World& world, const sim::Progress& progress, const Focus& focus, PacketSampler& packets);

 private:
  static constexpr std::size_t kMostQps = 64, kMostCounts = 2000, kMostFaults = 2000, kMostHappenings = 16;
  struct Before {
    std::uint64_t bytes = 0;
    std::uint32_t trims = 0, lost = 0, marks = 0;
  };
  struct QpBefore {
    std::uint64_t bytes = 0;
    std::int64_t time_ns = -1;  // of that count; -1: not seen before
    std::uint16_t bad = 0;
  };

  double rate_of_qp(const QpBefore& before, std::uint64_t bytes, const Frame& f) const;
  void choose_hops(const Focus& focus, Frame& f) const;
  void look_at_links(sim::World& world, Frame& f);
  bool passed_over(std::uint32_t index, const std::vector<std::uint8_t>& active) const;
  void note_level(std::uint32_t hop, std::uint8_t level, std::uint8_t queue, Frame& f) const;
  void note_cell(std::uint32_t hop, std::uint8_t level, Frame& f) const;
  void look_at_link(const fabric::Link& link, std::uint32_t hop, Frame& f);
  void look_at_fault(const fabric::Link& link, std::uint32_t hop, Frame& f);
  void tell_faults(Frame& f);
  void look_at_qps(sim::World& world, sim::Host host, bool all, Frame& f);
  void look_at_packets(sim::World& world, sim::Host host, std::vector<PacketSampler::Sent> sent, Frame& f);
  void tell(Frame& f, const char* kind, std::string what, std::string target = {});

  const topo::Topology& topo_;
  std::uint64_t number_ = 0;
  sim::Ps last_ = 0;
  std::uint64_t delivered_ = 0;
  std::vector<Before> hops_;
  const bool everything_;  // of the fabric fits into a frame
  // Of millions of links few carry anything: the others are looked at in turn, a part for each frame.
  static constexpr std::uint32_t kTurns = 8, kBlock = 64;
  std::vector<std::uint8_t> active_, talking_;                   // by hop, by host
  std::map<std::uint32_t, std::string> broken_;                  // links, and how
  std::map<std::pair<sim::Host, std::uint32_t>, QpBefore> qps_;  // by host and QPN
};

}  // namespace mrc::view
