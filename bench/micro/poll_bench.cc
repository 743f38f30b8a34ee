// What an application pays that polls and finds nothing: most of what a spinning core does. Over loopback, at
// 127.0.0.1 and up; without the right to load programs into the kernel there is no doorbell, and a look is a
// system call per port.
#include <benchmark/benchmark.h>

#include "lib/nic_device.h"
#include "port/udp_port.h"

namespace {

using namespace mrc;

constexpr std::uint16_t kUdpPort = 14795;

port::Address loopback(std::size_t i) { return *port::parse_address("127.0.0." + std::to_string(i + 1)); }

/// A whole poll of a CQ: its ring, the device's lock, the datapath's turn.
void empty_poll(benchmark::State& state) {
  lib::DeviceConfig config{.name = "bench"};
  for (std::size_t i = 0; i < static_cast<std::size_t>(state.range(0)); ++i) {
    lib::PortConfig port;
    port.id = PortId(static_cast<std::uint8_t>(i + 1));
    port.address = loopback(i).ip;
    config.ports.push_back(port);
  }
  lib::DeviceSettings settings;
  settings.udp_port = kUdpPort;
  const auto device = lib::NicDevice::open(config, settings);
  if (!device) return state.SkipWithError(device.error().what.c_str());
  lib::CompletionQueue* cq = *(*device)->create_cq(64, nullptr);
  lib::WorkCompletion some[16];
  for (auto _ : state) benchmark::DoNotOptimize(cq->poll(some));
  (*device)->destroy_cq(cq);
}
BENCHMARK(empty_poll)->ArgName("ports")->Arg(1)->Arg(4);

/// What of it is the look at one port.
void empty_look(benchmark::State& state) {
  auto port =
      port::UdpPort::open({.local = loopback(0), .udp_port = kUdpPort, .doorbell = state.range(0) != 0});
  if (!port) return state.SkipWithError(port.error().what.c_str());
  port::RxPacket some[64];
  for (auto _ : state) benchmark::DoNotOptimize((*port)->rx(some));
  state.SetLabel((*port)->capabilities().cheap_to_ask ? "doorbell" : "system call");
}
BENCHMARK(empty_look)->ArgName("doorbell")->Arg(0)->Arg(1);

}  // namespace

BENCHMARK_MAIN();
