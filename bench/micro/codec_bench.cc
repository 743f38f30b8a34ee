// Parse, validate and emit of one packet, without the iCRC: the cost of the headers.
#include <benchmark/benchmark.h>

#include <vector>

#include "wire/codec.h"
#include "wire/testing.h"

namespace mrc::wire {
namespace {

struct Sample {
  Packet packet;
  Route route;
  Envelope envelope;
  Datagram around;
  Settings settings;
  std::vector<std::uint8_t> payload, bytes;

  Sample(Opcode opcode, Encapsulation encapsulation, std::size_t size, bool udp_checksum) {
    Prng prng(1);
    packet = testing::random_packet(opcode, prng);
    if (auto* w = std::get_if<Write>(&packet.body)) w->has_timestamp = true;
    route = testing::random_route(encapsulation, prng);
    settings.check_icrc = settings.emit_icrc = false;
    settings.check_udp_checksum = settings.emit_udp6_checksum = udp_checksum;
    around = make_datagram(envelope, route.source, route.destination, settings);
    payload = testing::random_bytes(size, prng);
    bytes.resize(size + kMaxHead + 8);
  }
};

/// The socket path: BTH to iCRC; the payload stays in the application's memory.
void datagram(benchmark::State& state) {
  Sample s(Opcode::write_middle, Encapsulation::ipv6, 4096, false);
  const std::size_t whole = emit_datagram(s.packet, s.around, s.payload, s.settings, s.bytes);
  std::uint8_t head[kMaxHead];
  Tail tail;
  Parsed parsed;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse_datagram(Bytes(s.bytes).first(whole), s.around, s.settings, parsed));
    benchmark::DoNotOptimize(
        emit_datagram_head(parsed.packet, s.around, parsed.payload, s.settings, head, tail));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(datagram);

/// The frame path: from the IP header on.
void frame(benchmark::State& state, Opcode opcode, Encapsulation encapsulation, bool udp_checksum) {
  Sample s(opcode, encapsulation, static_cast<std::size_t>(state.range(0)), udp_checksum);
  const std::size_t whole = emit_l3(s.packet, s.envelope, s.route, s.payload, s.settings, s.bytes);
  std::uint8_t head[kMaxHead];
  Tail tail;
  Parsed parsed;
  for (auto _ : state) {
    benchmark::DoNotOptimize(parse_l3(Bytes(s.bytes).first(whole), s.settings, parsed));
    benchmark::DoNotOptimize(
        emit_l3_head(parsed.packet, parsed.envelope, s.route, parsed.payload, s.settings, head, tail));
    benchmark::ClobberMemory();
  }
}
BENCHMARK_CAPTURE(frame, write_ipv4, Opcode::write_middle, Encapsulation::ipv4, false)->Arg(4096);
BENCHMARK_CAPTURE(frame, write_ipv6, Opcode::write_middle, Encapsulation::ipv6, false)->Arg(4096);
BENCHMARK_CAPTURE(frame, write_srv6, Opcode::write_middle, Encapsulation::srv6, false)->Arg(4096);
BENCHMARK_CAPTURE(frame, write_ipv6_udp_checksum, Opcode::write_middle, Encapsulation::ipv6, true)
    ->Arg(256)
    ->Arg(4096);
BENCHMARK_CAPTURE(frame, sack_ipv6_udp_checksum, Opcode::sack, Encapsulation::ipv6, true)->Arg(0);

}  // namespace
}  // namespace mrc::wire
