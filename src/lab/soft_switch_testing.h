// For tests of the switch: ports of memory, a T0 between two hosts and two T1s, and frames for it.
#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "lab/neighbour.h"
#include "lab/soft_switch.h"
#include "lab/switch_control.h"
#include "lab/switch_plan.h"
#include "wire/codec.h"
#include "wire/ipv6.h"
#include "wire/testing.h"

namespace mrc::lab {

using fabric::Fate;
using fabric::PsTime;
using Bytes = std::vector<std::uint8_t>;
using wire::TrafficClass;

/// A port whose wire is two queues. Like a real one it reuses its receive memory.
class MemoryPort final : public port::Port {
 public:
  std::deque<port::RxPacket> arriving_meta;
  std::deque<Bytes> arriving, left;
  std::size_t room = SIZE_MAX;  // trains that tx() still takes

  std::size_t tx(std::span<port::TxTrain> trains) override {
    std::size_t done = 0;
    for (; done < trains.size() && room > 0; ++done, --room) {
      Bytes frame;
      for (std::uint32_t i = 0; i < trains[done].piece_count; ++i) {
        const auto* at = static_cast<const std::uint8_t*>(trains[done].pieces[i].iov_base);
        frame.insert(frame.end(), at, at + trains[done].pieces[i].iov_len);
      }
      EXPECT_EQ(frame.size(), trains[done].packet_bytes);
      left.push_back(std::move(frame));
    }
    return done;
  }
  std::size_t rx(std::span<port::RxPacket> out) override {
    std::fill(memory_.begin(), memory_.end(), std::byte{0xEE});
    std::size_t n = 0, at = 0;
    for (; n < out.size() && !arriving.empty() && at + arriving.front().size() <= memory_.size(); ++n) {
      std::memcpy(&memory_[at], arriving.front().data(), arriving.front().size());
      out[n] = {};
      out[n].data = &memory_[at];
      out[n].size = static_cast<std::uint32_t>(arriving.front().size());
      out[n].coalesced = coalesced;
      at += arriving.front().size();
      arriving.pop_front();
    }
    return n;
  }
  int wait_fd() const override { return -1; }
  port::Link link() const override { return {.up = true, .mtu = 9000}; }
  port::Address local() const override { return {}; }
  port::Capabilities capabilities() const override { return {.layer = port::Layer::frame}; }
  const port::Counters& counters() const override { return counters_; }
  std::uint32_t coalesced = 0;

 private:
  std::vector<std::byte> memory_{1 << 20};
  port::Counters counters_;
};

/// T0 number 0 of a fabric with 2 T0s, 2 T1s and 2 hosts per T0: ports d0, d1, u0, u1.
class SoftSwitchTest : public ::testing::Test {
 protected:
  topo::Topology topo = *topo::Topology::make({.planes = 1, .t0 = 2, .t1 = 2, .hosts_per_t0 = 2});
  topo::Node node = topo::switch_node(0, topo::Tier::t0, 0);
  SwitchTuning tuning{.limit_rate = false};
  std::vector<MemoryPort*> ports;
  std::unique_ptr<SoftSwitch> sw;
  Prng random{3};
  PsTime now{fabric::PsDuration(1'000'000'000)};

  void start() {
    std::vector<SoftPort> setup;
    for (std::uint32_t p = 0; p < topo.ports(node); ++p) {
      auto port = std::make_unique<MemoryPort>();
      ports.push_back(port.get());
      setup.push_back({topo.port_name({node, p}),
                       std::move(port),
                       {topo.mac({node, p})},
                       {topo.mac(*topo.peer({node, p}))},
                       topo.link_local(topo.peer({node, p})->node),
                       link_settings(topo, {node, p}, tuning)});
    }
    sw = std::make_unique<SoftSwitch>(switch_settings(topo, node, tuning), std::move(setup));
  }
  Bytes frame(std::uint32_t to, std::uint32_t uplink, std::size_t payload,
              TrafficClass c = TrafficClass::trimmable) {
    const topo::Path p = topo.path(topo::HostId(0), topo::HostId(to), topo::Choice{0, uplink, 0});
    wire::Route route;
    route.source.bytes = topo.address(topo::HostId(0), 0).bytes;
    route.destination.bytes = topo.address(topo::HostId(to), 0).bytes;
    route.usid_carrier.emplace().bytes = topo.carriers(topo.usids(p)).addresses[0].bytes;
    wire::Envelope envelope;
    envelope.traffic_class = c;
    const Bytes bytes = wire::testing::random_bytes(payload, random);
    Bytes out(10'000);
    out.resize(wire::emit_l2(wire::testing::random_packet(wire::Opcode::write_only, random), envelope, route,
                             {{2, 9, 9, 9, 9, 9}}, {topo.mac({node, 0})}, bytes, {}, out));
    return out;
  }
  static std::string destination(const Bytes& f) {
    return to_string(wire::IpAddress::v6_from(f.data() + 14 + 24));
  }
};

}  // namespace mrc::lab
