#include "node/resolve.h"

#include "node/expansion.h"

namespace mrc::node {
namespace {

/// The first `width` bits as a number.
Ev number(const EvBits& bits, std::uint32_t width) {
  return Ev(width == 0 ? 0 : first_word(bits).value >> (32 - width));
}

/// A name of 32 bits for an EV that has more: packets carry it so that the receiver can echo it, and the same
/// EV must get the same name everywhere (FNV-1a).
Ev name_of(const EvBits& bits) {
  std::uint32_t hash = 2166136261u;
  for (const auto byte : bits) hash = (hash ^ byte) * 16777619u;
  return Ev(hash);
}

}  // namespace

EvSet resolve(const EvProfile& profile, const FormatProfile* format) {
  EvSet set;
  set.min_active = profile.min_active.value_or(1);
  set.format = format != nullptr && format->mode ? *format->mode : FormatMode::stev;
  const bool automatic = profile.mode == EvMode::automatic;
  // The provider knows no switch: its own EVs are entropy, in whatever format they are asked for.
  if (automatic && set.format == FormatMode::srv6) set.format = FormatMode::stev;
  const std::uint32_t used = used_bits(profile.fields);
  for (const auto& slot : profile.slots) {
    ResolvedEv path{.port = PortId(slot.value.port), .denied = slot.denied};
    path.wire = automatic ? slot.value.bits : expand(slot.value.bits, profile.fields, format->widths);
    if (automatic) {
      path.ev = number(path.wire, set.format == FormatMode::udp ? 16 : 32);
    } else if (set.format != FormatMode::srv6) {
      path.ev = number(path.wire, format->total_width());
    } else {
      path.ev = used <= 32 ? number(slot.value.bits, used) : name_of(slot.value.bits);
    }
    set.evs.push_back(path);
  }
  return set;
}

}  // namespace mrc::node
