// Prints random MRC packets as our codec writes them, one line of hex each, from the IP header on.
// Usage: icrc_packets COUNT SEED (4|6)
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wire/codec.h"
#include "wire/testing.h"

using namespace mrc;
using namespace mrc::wire;

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: icrc_packets COUNT SEED 4|6\n"), 2;
  const int count = std::atoi(argv[1]);
  Prng prng(std::strtoull(argv[2], nullptr, 0));
  const auto encapsulation = argv[3][0] == '4' ? Encapsulation::ipv4 : Encapsulation::ipv6;
  std::vector<std::uint8_t> out(3000);
  for (int i = 0; i < count; ++i) {
    const Packet packet = testing::random_packet(testing::kOpcodes[prng.below(12)], prng);
    const Envelope envelope = testing::random_envelope(packet, encapsulation == Encapsulation::ipv4, prng);
    const auto* write = std::get_if<Write>(&packet.body);
    const std::size_t size = write == nullptr ? 0 : ends(write->segment) ? prng.below(300) : 256;
    const auto payload = testing::random_bytes(size, prng);
    const std::size_t n =
        emit_l3(packet, envelope, testing::random_route(encapsulation, prng), payload, Settings{}, out);
    if (n == 0) return std::fprintf(stderr, "packet %d was not emitted\n", i), 1;
    for (std::size_t b = 0; b < n; ++b) std::printf("%02x", out[b]);
    std::printf("\n");
  }
}
