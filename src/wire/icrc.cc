#include "wire/icrc.h"

#include <libdeflate.h>

#include "wire/bth.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

namespace mrc::wire {
namespace {

constexpr std::size_t kLrh = 8;  // InfiniBand's local header is not there on Ethernet: it counts as ones

// MRC-WIRE-041: TOS, TTL and header checksum of IPv4 count as ones.
std::size_t masked_ipv4(const Datagram& d, std::size_t udp_length, std::uint8_t* out) {
  out[0] = 0x45;
  out[1] = 0xFF;
  store16(out + 2, static_cast<std::uint16_t>(Ipv4::kSize + udp_length));
  store16(out + 4, d.ipv4_id);
  store16(out + 6, d.ipv4_fragment);
  out[8] = 0xFF;
  out[9] = kProtocolUdp;
  store16(out + 10, 0xFFFF);
  std::memcpy(out + 12, d.source.v4_bytes(), 4);
  std::memcpy(out + 16, d.destination.v4_bytes(), 4);
  return Ipv4::kSize;
}

// MRC-WIRE-042: traffic class, flow label and hop limit of IPv6 count as ones.
std::size_t masked_ipv6(const Datagram& d, std::size_t udp_length, std::uint8_t* out) {
  store32(out, 0x6FFFFFFF);
  store16(out + 4, static_cast<std::uint16_t>(udp_length));
  out[6] = kNextUdp;
  out[7] = 0xFF;
  std::memcpy(out + 8, d.source.bytes.data(), 16);
  std::memcpy(out + 24, d.destination.bytes.data(), 16);
  return Ipv6::kSize;
}

}  // namespace

Icrc::Icrc(const Datagram& d, const std::uint8_t* bth, std::size_t udp_payload) {
  std::uint8_t head[kLrh + Ipv6::kSize + Udp::kSize + Bth::kSize];
  const std::size_t udp_length = Udp::kSize + udp_payload;
  std::memset(head, 0xFF, kLrh);
  std::size_t n = kLrh;
  n += d.is_v4() ? masked_ipv4(d, udp_length, head + n) : masked_ipv6(d, udp_length, head + n);
  // MRC-WIRE-043: the UDP checksum and the reserved byte of BTH count as ones.
  emit(Udp{d.source_port, d.destination_port, static_cast<std::uint16_t>(udp_length), 0xFFFF}, head + n);
  n += Udp::kSize;
  std::memcpy(head + n, bth, Bth::kSize);
  head[n + 4] = 0xFF;
  n += Bth::kSize;
  crc_ = libdeflate_crc32(0, head, n);
}

void Icrc::add(Bytes piece) {
  if (piece.empty()) return;  // libdeflate takes a null pointer as "begin anew"
  crc_ = libdeflate_crc32(crc_, piece.data(), piece.size());
}

// MRC-WIRE-044: sent with the lowest byte of the CRC first.
void Icrc::store(std::uint8_t* out) const { store32(out, __builtin_bswap32(crc_)); }

bool Icrc::matches(const std::uint8_t* stored) const { return __builtin_bswap32(load32(stored)) == crc_; }

Icrc icrc_of(const Datagram& d, Bytes udp_payload) {
  Icrc icrc(d, udp_payload.data(), udp_payload.size());
  icrc.add(udp_payload.subspan(Bth::kSize, udp_payload.size() - Bth::kSize - kIcrcSize));
  return icrc;
}

}  // namespace mrc::wire
