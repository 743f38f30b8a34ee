#include "wire/checksum.h"

namespace mrc::wire {
namespace {

std::uint16_t fold(std::uint64_t sum) {
  sum = (sum & 0xFFFFFFFF) + (sum >> 32);
  sum = (sum & 0xFFFFFFFF) + (sum >> 32);
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

// The sum does not care about byte order (RFC 1071, 2B): add native 32-bit words and swap once at the end.
// Two accumulators per lane keep the adds independent, so that the compiler can put them in vectors.
std::uint64_t native_sum(const std::uint8_t* p, std::size_t n) {
  std::uint64_t lanes[8] = {};
  for (; n >= 32; p += 32, n -= 32) {
    std::uint32_t words[8];
    std::memcpy(words, p, 32);
    for (int i = 0; i < 8; ++i) lanes[i] += words[i];
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum += lane;
  for (; n >= 2; p += 2, n -= 2) {
    std::uint16_t word;
    std::memcpy(&word, p, 2);
    sum += word;
  }
  if (n == 1) sum += *p;  // little-endian: the missing byte is the high one
  return sum;
}

}  // namespace

void Checksum::add(Bytes piece) {
  std::uint16_t part = fold(native_sum(piece.data(), piece.size()));
  // A piece that begins at an odd place has its bytes in the other halves of the words.
  if (!odd_) part = __builtin_bswap16(part);
  sum_ += part;
  odd_ ^= (piece.size() & 1) != 0;
}

void Checksum::add_udp_pseudo(const IpAddress& source, const IpAddress& destination,
                              std::uint32_t udp_length) {
  const std::size_t skip = source.is_v4() ? 12 : 0;
  add(Bytes(source.bytes).subspan(skip));
  add(Bytes(destination.bytes).subspan(skip));
  sum_ += (udp_length >> 16) + (udp_length & 0xFFFF) + 17;
}

std::uint16_t Checksum::sum() const { return fold(sum_); }

}  // namespace mrc::wire
