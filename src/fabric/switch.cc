#include "fabric/switch.h"

#include <utility>

namespace mrc::fabric {
namespace {

/// Mixes 64 bits so that each output bit depends on each input bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 31) * 0x7fb5d329728ea185;
  x = (x ^ x >> 27) * 0x81dadef4bc2dd44d;
  return x ^ x >> 33;
}

}  // namespace

Switch::Switch(const SwitchSettings& settings, Table table, std::vector<Link> ports)
    : settings_(settings), table_(std::move(table)), ports_(std::move(ports)) {
  if (settings_.pfc.xoff == 0) return;
  inside_.resize(ports_.size());
  stopped_.resize(ports_.size());
}

Switch::Route Switch::route_by_destination(const Frame& f) const {
  if (const auto port = table_.find(f.destination)) return {Fate::passed, *port};
  if (settings_.uplinks.count == 0) return {Fate::no_route, 0};
  return {Fate::passed, static_cast<std::uint16_t>(settings_.uplinks.first + uplink(f))};
}

// MRC-FAB-016: by the EV field of this tier, or by a stable hash of EV and flow.
std::uint16_t Switch::uplink(const Frame& f) const {
  const Uplinks& up = settings_.uplinks;
  if (settings_.forwarding == Forwarding::ev) {
    const std::uint32_t low = f.entropy & ((1u << up.ev_port_bits) - 1);
    const std::uint32_t path_bits = f.entropy >> 16 << up.ev_port_bits | low;
    return static_cast<std::uint16_t>((path_bits >> up.ev_shift & ((1u << up.ev_bits) - 1)) % up.count);
  }
  const std::uint64_t key = std::uint64_t{f.flow} << 32 | f.entropy;
  const std::uint64_t hash = mix(key ^ std::uint64_t{settings_.hash_salt} * 0x9e3779b97f4a7c15);
  return static_cast<std::uint16_t>((hash >> 32) * up.count >> 32);
}

Pause Switch::note_in(const Frame& f) {
  inside_[f.ingress] += f.bytes;
  if (inside_[f.ingress] <= settings_.pfc.xoff || stopped_[f.ingress]) return Pause::none;
  stopped_[f.ingress] = true;
  return Pause::xoff;
}

Pause Switch::note_out(std::uint16_t ingress, std::uint32_t bytes) {
  inside_[ingress] -= bytes;
  if (inside_[ingress] >= settings_.pfc.xon || !stopped_[ingress]) return Pause::none;
  stopped_[ingress] = false;
  return Pause::xon;
}

}  // namespace mrc::fabric
