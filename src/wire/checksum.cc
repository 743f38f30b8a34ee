#include "wire/checksum.h"

namespace mrc::wire {
namespace {

#if defined(__x86_64__)
#define MRC_WIDE __attribute__((target("avx2")))
bool has_wide() {
  static const bool yes = __builtin_cpu_supports("avx2") != 0;
  return yes;
}
#else
#define MRC_WIDE
bool has_wide() { return true; }
#endif

using Lanes = std::uint64_t __attribute__((vector_size(32)));

/// The halves of 64-bit words in lanes of their own: 32 bytes for two additions.
MRC_WIDE std::uint64_t wide_sum(const std::uint8_t* p, std::size_t blocks) {
  Lanes low{}, high{};
  for (std::size_t i = 0; i < blocks; ++i) {
    Lanes words;
    std::memcpy(&words, p + 32 * i, sizeof words);
    low += words & 0xFFFFFFFF;
    high += words >> 32;
  }
  low += high;
  return low[0] + low[1] + low[2] + low[3];
}

}  // namespace

std::uint64_t Checksum::native_sum(const std::uint8_t* p, std::size_t n) {
  std::uint64_t sum = 0;
  if (n >= 96 && has_wide()) {
    sum = wide_sum(p, n / 32);
    p += n / 32 * 32;
    n %= 32;
  }
  for (; n >= 8; p += 8, n -= 8) sum += std::uint64_t{native32(p)} + native32(p + 4);
  if (n >= 4) sum += native32(p), p += 4, n -= 4;
  if (n >= 2) sum += static_cast<std::uint64_t>(p[0] | p[1] << 8), p += 2, n -= 2;
  if (n == 1) sum += *p;  // little-endian: the missing byte is the high one
  return sum;
}

void Checksum::add(Bytes piece) {
  const std::uint64_t part = native_sum(piece.data(), piece.size());
  // A piece that begins at an odd place has its bytes in the other halves of the words.
  sum_ += odd_ ? __builtin_bswap16(fold(part)) : part;
  odd_ ^= (piece.size() & 1) != 0;
}

void Checksum::add_udp_pseudo(const IpAddress& source, const IpAddress& destination,
                              std::uint32_t udp_length) {
  for (std::size_t i = source.is_v4() ? 12 : 0; i < 16; i += 4) {
    sum_ += std::uint64_t{native32(source.bytes.data() + i)} + native32(destination.bytes.data() + i);
  }
  sum_ += std::uint64_t{__builtin_bswap32(udp_length)} + __builtin_bswap32(17);
}

}  // namespace mrc::wire
