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

  std::unique_ptr<Bottleneck> make() const {
    auto world = std::make_unique<Bottleneck>(link, flows, [this](int i) {
      const engine::CongestionHints hints{.remote_recv_peers = hint};
      return std::make_unique<engine::Nscc>(cc, hints, static_cast<std::uint32_t>(i) * 7 + seed);
    });
    for (int i = 0; i < flows; ++i)
      world->offer(i, packets, Duration(jitter.count() > 0 ? i * 7919 % jitter.count() : 0));
    return world;
  }
};

struct Figures {
  double trims_per_packet = 0;
  double max_over_ideal = 0, first_over_ideal = 0;
  int unfinished = 0;
};

/// Ideal: the receiver's link is busy from the first arrival on.
inline Figures figures(const Bottleneck& world, const Incast& incast) {
  Figures f;
  double last = 0, first = 1e18, trims = 0;
  for (int i = 0; i < incast.flows; ++i) {
    const FlowStats& s = world.stats(i);
    trims += static_cast<double>(s.trims);
    f.unfinished += s.finished < 0;
    last = std::max(last, static_cast<double>(s.finished));
    first = std::min(first, static_cast<double>(s.finished));
  }
  const double useful = static_cast<double>(incast.packets) * incast.flows;
  const auto& link = incast.link.link;
  const double wire = link.mtu * 8e12 / static_cast<double>(link.bits_per_second);
  const double ideal = (useful + 1) * wire + static_cast<double>(incast.link.propagation.count()) * 1e3;
  f.trims_per_packet = trims / useful;
  f.max_over_ideal = last / ideal;
  f.first_over_ideal = first / ideal;
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
