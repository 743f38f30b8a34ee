#include "wire/icrc.h"

#include <isa-l/crc.h>

#include "wire/bth.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace mrc::wire {
namespace {

// The masked headers are put together in whole 16-byte stores, because the CRC reads them back in 16-byte
// loads at once: narrower stores would stall it for longer than the CRC itself takes.
using Pair = std::uint64_t __attribute__((vector_size(16)));

void put(std::uint8_t* out, std::uint64_t first, std::uint64_t second) {
  const Pair pair = {first, second};
  std::memcpy(out, &pair, sizeof pair);
}

constexpr std::uint64_t kOnes = ~std::uint64_t{0};
// InfiniBand's local header, which Ethernet does not have, counts as ones: 8 bytes before IP.
constexpr std::size_t kHead4 = 8 + Ipv4::kSize + Udp::kSize + Icrc::kBthInHead;
constexpr std::size_t kHead6 = 8 + Ipv6::kSize + Udp::kSize + Icrc::kBthInHead;

#ifdef __x86_64__
__attribute__((target("avx"))) void forget_upper_halves() { __builtin_ia32_vzeroupper(); }
const bool kHasAvx = __builtin_cpu_supports("avx");
#else
void forget_upper_halves() {}
constexpr bool kHasAvx = false;
#endif

/// ISA-L's widest CRC comes back with the upper halves of the vector registers in use. Until something clears
/// them, every SSE instruction that follows waits for the register's old value: all the code between here and
/// the next memcpy pays for it.
std::uint32_t crc32(std::uint32_t crc, Bytes bytes) {
  crc = crc32_gzip_refl(crc, bytes.data(), bytes.size());
  if (kHasAvx) forget_upper_halves();
  return crc;
}

/// Eight bytes as they stand in memory, from a number as people write it.
std::uint64_t wire_order(std::uint64_t v) { return __builtin_bswap64(v); }

// MRC-WIRE-043: the UDP checksum and the reserved byte of BTH count as ones.
void put_udp_bth(const Datagram& d, const std::uint8_t* bth, std::uint64_t udp_length, std::uint8_t* out) {
  const std::uint64_t udp = std::uint64_t{d.source_port} << 48 | std::uint64_t{d.destination_port} << 32 |
                            (udp_length & 0xFFFF) << 16 | 0xFFFF;
  put(out, wire_order(udp), wire_order(load64(bth) | 0xFF000000));
}

// MRC-WIRE-041: TOS, TTL and header checksum of IPv4 count as ones.
void put_ipv4(const Datagram& d, std::uint64_t udp_length, std::uint8_t* out) {
  const std::uint64_t first = std::uint64_t{0x45FF} << 48 | ((udp_length + Ipv4::kSize) & 0xFFFF) << 32 |
                              std::uint64_t{d.ipv4_id} << 16 | d.ipv4_fragment;
  const std::uint64_t second =
      std::uint64_t{0xFF00 | kProtocolUdp} << 48 | std::uint64_t{0xFFFF} << 32 | load32(d.source.v4_bytes());
  put(out, kOnes, wire_order(first));
  put(out + 16, wire_order(second), std::uint64_t{__builtin_bswap32(load32(d.destination.v4_bytes()))});
}

// MRC-WIRE-042: traffic class, flow label and hop limit of IPv6 count as ones.
void put_ipv6(const Datagram& d, std::uint64_t udp_length, std::uint8_t* out) {
  put(out, kOnes,
      wire_order(std::uint64_t{0x6FFFFFFF} << 32 | (udp_length & 0xFFFF) << 16 | kNextUdp << 8 | 0xFF));
  std::memcpy(out + 16, d.source.bytes.data(), 16);
  std::memcpy(out + 32, d.destination.bytes.data(), 16);
}

}  // namespace

Icrc::Icrc(const Datagram& d, const std::uint8_t* bth, std::size_t udp_payload) {
  alignas(16) std::uint8_t head[kHead6];
  const std::uint64_t udp_length = Udp::kSize + udp_payload;
  const bool v4 = d.is_v4();
  v4 ? put_ipv4(d, udp_length, head) : put_ipv6(d, udp_length, head);
  const std::size_t size = v4 ? kHead4 : kHead6;
  put_udp_bth(d, bth, udp_length, head + size - 16);
  crc_ = crc32(0, Bytes(head, size));
}

void Icrc::add(Bytes piece) { crc_ = crc32(crc_, piece); }

// MRC-WIRE-044: sent with the lowest byte of the CRC first.
void Icrc::store(std::uint8_t* out) const { store32(out, __builtin_bswap32(crc_)); }

bool Icrc::matches(const std::uint8_t* stored) const { return __builtin_bswap32(load32(stored)) == crc_; }

Icrc icrc_of(const Datagram& d, Bytes udp_payload) {
  Icrc icrc(d, udp_payload.data(), udp_payload.size());
  icrc.add(udp_payload.subspan(Icrc::kBthInHead, udp_payload.size() - Icrc::kBthInHead - kIcrcSize));
  return icrc;
}

}  // namespace mrc::wire
