// The link that the tests share, and the figures that they judge an incast by.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "bottleneck.h"
#include "engine/nscc.h"

namespace mrc::testing {

/// 400 Gb/s with 1 us links: the network of docs/decisions/0010-nscc.md.
inline BottleneckConfig fast_link() {
  BottleneckConfig b;
  b.link.base_rtt = b.base_rtt();
  return b;
}

/// NSCC as published, without what we added.
inline engine::NsccConfig published(const engine::LinkFacts& link) {
  engine::NsccConfig c = engine::default_nscc(link);
  c.incast_mode = c.pace_below_mtu = c.qa_covers_flight = false;
  return c;
}

struct Incast {
  BottleneckConfig link = fast_link();
  engine::NsccConfig cc = engine::default_nscc(link.link);
  int flows = 100;
  std::uint64_t packets = 490;  // 2 MB
  std::uint32_t hint = 0;       // senders, as the application says
  Duration jitter{};            // starts are spread over this
  std::uint32_t seed = 1;

  Duration start_of(int flow) const {
    return Duration(jitter.count() > 0 ? flow * 7919 % jitter.count() : 0);
  }

  std::unique_ptr<Bottleneck> make() const {
    auto world = std::make_unique<Bottleneck>(link, flows, [this](int i) {
      const engine::CongestionHints hints{.remote_recv_peers = hint};
      return std::make_unique<engine::Nscc>(cc, hints, static_cast<std::uint32_t>(i) * 7 + seed);
    });
    for (int i = 0; i < flows; ++i) world->offer(i, packets, start_of(i));
    return world;
  }
};

struct Figures {
  double trims_per_packet = 0;
  double max_over_ideal = 0, first_over_ideal = 0;
  int unfinished = 0;
};

/// Ideal: the receiver's link is busy from the first arrival on.
inline double ideal_picos(const Incast& in) {
  const auto& link = in.link.link;
  const double wire = link.mtu * 8e12 / static_cast<double>(link.bits_per_second);
  return (static_cast<double>(in.packets) * in.flows + 1) * wire +
         static_cast<double>(in.link.propagation.count()) * 1e3;
}

/// Adds one flow.
inline void note(Figures& f, std::uint64_t trims, Picos finished, const Incast& in) {
  const double over = static_cast<double>(finished) / ideal_picos(in);
  f.trims_per_packet += static_cast<double>(trims) / (static_cast<double>(in.packets) * in.flows);
  f.unfinished += finished < 0;
  f.max_over_ideal = std::max(f.max_over_ideal, over);
  f.first_over_ideal = f.first_over_ideal == 0 ? over : std::min(f.first_over_ideal, over);
}

inline Figures figures(const Bottleneck& world, const Incast& incast) {
  Figures f;
  for (int i = 0; i < incast.flows; ++i) note(f, world.stats(i).trims, world.stats(i).finished, incast);
  return f;
}

inline double share_of(Bottleneck& world, int flow) {
  return static_cast<engine::Nscc&>(world.controller(flow)).share();
}

/// 1: all equal. 1/n: one has everything.
inline double jain(const std::vector<double>& x) {
  double sum = 0, squares = 0;
  for (double v : x) sum += v, squares += v * v;
  return squares == 0 ? 1 : sum * sum / (static_cast<double>(x.size()) * squares);
}

}  // namespace mrc::testing
