// Spans of bytes, and big-endian loads and stores. Nothing else in the project touches byte order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mrc::wire {

using Bytes = std::span<const std::uint8_t>;
using MutableBytes = std::span<std::uint8_t>;

static_assert(std::endian::native == std::endian::little, "loads and stores below swap bytes");

inline std::uint16_t load16(const std::uint8_t* p) {
  std::uint16_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap16(v);
}
inline std::uint32_t load32(const std::uint8_t* p) {
  std::uint32_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap32(v);
}
inline std::uint32_t load24(const std::uint8_t* p) { return std::uint32_t{p[0]} << 16 | load16(p + 1); }
inline std::uint64_t load64(const std::uint8_t* p) {
  std::uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_bswap64(v);
}

inline void store16(std::uint8_t* p, std::uint16_t v) {
  v = __builtin_bswap16(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store24(std::uint8_t* p, std::uint32_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 16);
  store16(p + 1, static_cast<std::uint16_t>(v));
}
inline void store32(std::uint8_t* p, std::uint32_t v) {
  v = __builtin_bswap32(v);
  std::memcpy(p, &v, sizeof v);
}
inline void store64(std::uint8_t* p, std::uint64_t v) {
  v = __builtin_bswap64(v);
  std::memcpy(p, &v, sizeof v);
}

/// A header read in place. MRC-WIRE-015: views look at no reserved bit, and emit() writes zeros there.
/// It is false when the bytes end before the header does, and must then not be read.
template <std::size_t N>
class View {
 public:
  static constexpr std::size_t kSize = N;
  explicit View(Bytes b) : at_(b.size() >= N ? b.data() : nullptr) {}
  explicit operator bool() const { return at_ != nullptr; }
  const std::uint8_t* data() const { return at_; }

 protected:
  std::uint8_t u8(std::size_t off) const { return at_[off]; }
  std::uint16_t u16(std::size_t off) const { return load16(at_ + off); }
  std::uint32_t u24(std::size_t off) const { return load24(at_ + off); }
  std::uint32_t u32(std::size_t off) const { return load32(at_ + off); }
  std::uint64_t u64(std::size_t off) const { return load64(at_ + off); }

 private:
  const std::uint8_t* at_;
};

}  // namespace mrc::wire
