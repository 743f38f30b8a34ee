#include "node/expansion.h"

#include <bit>
#include <cerrno>

namespace mrc::node {
namespace {

constexpr std::uint32_t kMostFieldBits = 32;

/// All ones in the low `width` bits.
constexpr std::uint32_t ones(std::uint32_t width) {
  return width >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << width) - 1;
}

std::uint32_t mask_bits(const EvField& field) {
  return static_cast<std::uint32_t>(std::popcount(field.mask));
}

int check_field(const EvField& field) {
  if (field.width < 1 || field.width > kMostFieldBits) return EINVAL;
  if ((field.init & ~ones(field.width)) != 0 || (field.mask & ~ones(field.width)) != 0) return EINVAL;
  if (field.min > field.max) return EINVAL;
  return field.max > ones(mask_bits(field)) ? EINVAL : 0;
}

/// MRC-CTL-010: the mask's bits from the most significant down take the EV's next bits; the rest is init's.
std::uint32_t field_value(const EvBits& ev, std::uint32_t& next, const EvField& field) {
  std::uint32_t value = field.init;
  for (std::uint32_t i = field.width; i-- > 0;) {
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((field.mask & bit) == 0) continue;
    value = bit_at(ev, next++) ? value | bit : value & ~bit;
  }
  return value;
}

}  // namespace

std::uint32_t FormatProfile::total_width() const {
  std::uint32_t total = 0;
  for (const auto width : widths) total += width;
  return total;
}

bool bit_at(const EvBits& bits, std::uint32_t index) { return (bits[index / 8] >> (7 - index % 8) & 1) != 0; }

void set_bit(EvBits& bits, std::uint32_t index) {
  bits[index / 8] = static_cast<std::uint8_t>(bits[index / 8] | 0x80u >> index % 8);
}

int check_widths(FormatMode mode, std::span<const std::uint8_t> widths, std::uint32_t most_fields) {
  const std::uint32_t room = mode == FormatMode::udp ? 16 : mode == FormatMode::stev ? 32 : 8 * kEvBytes;
  if (widths.empty()) return EINVAL;
  if (widths.size() > most_fields) return E2BIG;
  std::uint32_t total = 0;
  for (const auto width : widths) {
    if (width == 0) return EINVAL;
    total += width;
  }
  return total > room ? E2BIG : 0;
}

int check_fields(std::span<const EvField> fields, std::span<const std::uint8_t> widths) {
  if (fields.empty()) return EINVAL;
  if (fields.size() > widths.size()) return E2BIG;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (check_field(fields[i]) != 0 || fields[i].width > widths[i]) return EINVAL;
  }
  return 0;
}

std::uint32_t used_bits(std::span<const EvField> fields) {
  std::uint32_t used = 0;
  for (const auto& field : fields) used += mask_bits(field);
  return used;
}

bool fits(const EvBits& ev, std::span<const EvField> fields) {
  for (std::uint32_t i = used_bits(fields); i < 8 * kEvBytes; ++i) {
    if (bit_at(ev, i)) return false;
  }
  return true;
}

EvBits expand(const EvBits& ev, std::span<const EvField> fields, std::span<const std::uint8_t> widths) {
  EvBits out{};
  std::uint32_t from = 0, to = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::uint32_t value = field_value(ev, from, fields[i]);
    for (std::uint32_t bit = 0; bit < fields[i].width; ++bit) {
      // The value stands at the right of its place; what the format has more is zero.
      if ((value >> bit & 1) != 0) set_bit(out, to + widths[i] - 1 - bit);
    }
    to += widths[i];
  }
  return out;
}

std::vector<EvField> whole_fields(std::span<const std::uint8_t> widths) {
  std::vector<EvField> fields;
  for (const auto width : widths) {
    if (width > kMostFieldBits) return {};
    fields.push_back({width, 0, 0, ones(width), ones(width)});
  }
  return fields;
}

Ev first_word(const EvBits& bits) {
  return Ev(std::uint32_t{bits[0]} << 24 | std::uint32_t{bits[1]} << 16 | std::uint32_t{bits[2]} << 8 |
            bits[3]);
}

}  // namespace mrc::node
