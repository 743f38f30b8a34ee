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

// Sums of 32-bit halves in 64-bit lanes: four lanes take two additions for 32 bytes and can't overflow here.
#if defined(__x86_64__)
__attribute__((target("avx2")))
#endif
std::uint64_t
wide_sum(const std::uint8_t* p, std::size_t blocks) {
  using Lanes = std::uint64_t __attribute__((vector_size(32)));
  Lanes low{}, high{};
  for (std::size_t i = 0; i < blocks; ++i) {
    Lanes words;
    std::memcpy(&words, p + 32 * i, 32);
    low += words & 0xFFFFFFFF;
    high += words >> 32;
  }
  low += high;
  return low[0] + low[1] + low[2] + low[3];
}

bool has_wide() {
#if defined(__x86_64__)
  static const bool yes = __builtin_cpu_supports("avx2") != 0;
  return yes;
#else
  return true;
#endif
}

// The sum does not care about byte order (RFC 1071, 2B): add native 32-bit words and swap once at the end.
std::uint64_t native_sum(const std::uint8_t* p, std::size_t n) {
  std::uint64_t sum = 0;
  if (n >= 128 && has_wide()) {
    sum = wide_sum(p, n / 32);
    p += n / 32 * 32;
    n %= 32;
  }
  for (; n >= 4; p += 4, n -= 4) {
    std::uint32_t word;
    std::memcpy(&word, p, 4);
    sum += word;
  }
  if (n >= 2) {
    std::uint16_t word;
    std::memcpy(&word, p, 2);
    sum += word;
    p += 2;
    n -= 2;
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
