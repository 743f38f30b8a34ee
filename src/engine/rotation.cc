#include "engine/rotation.h"

#include <algorithm>

namespace mrc::engine {
namespace {

std::size_t count_planes(std::span<const Path> table) {
  PortMask seen;
  for (const Path& p : table) seen.add(p.port);
  return static_cast<std::size_t>(__builtin_popcount(seen.bits()));
}

void shuffle(std::uint16_t* run, std::uint32_t count, Prng& prng) {
  for (std::uint32_t i = 0; i + 1 < count; ++i) std::swap(run[i], run[i + prng.below(count - i)]);
}

}  // namespace

Rotation::Rotation(std::span<const Path> table, std::uint16_t active_per_plane, std::uint8_t reach,
                   Prng& prng)
    : table_(table), order_(table.size()), planes_(count_planes(table)), reach_(reach) {
  std::size_t plane = 0, filled = 0;
  for (int port = 0; port <= kMaxPorts; ++port) {
    Plane p{.port = PortId(static_cast<std::uint8_t>(port)), .begin = static_cast<std::uint16_t>(filled)};
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (table[i].port == p.port) order_[filled++] = static_cast<std::uint16_t>(i);
    }
    p.count = static_cast<std::uint16_t>(filled - p.begin);
    if (p.count == 0) continue;
    // QPs begin in unlike orders, or those that began together would meet on every path.
    if (reach_ != 0) shuffle(order_.begin() + p.begin, p.count, prng);
    p.target = active_per_plane == 0 ? p.count : std::min(active_per_plane, p.count);
    p.active = p.target;
    p.turn = static_cast<std::uint8_t>(plane);
    active_ += p.active;
    plane_of_port_[port] = static_cast<std::uint8_t>(plane);
    planes_[plane++] = p;
  }
}

std::optional<EvSlot> Rotation::next(PortMask open, Prng& prng) {
  const auto count = static_cast<std::uint32_t>(planes_.size());
  // The rest of this round and a whole new one: each plane is met at least once.
  for (std::uint32_t tried = 0; tried < 2 * count; ++tried) {
    if (place_ >= count) place_ = 0;
    if (count > 1) std::swap(planes_[place_].turn, planes_[place_ + prng.below(count - place_)].turn);
    Plane& p = planes_[planes_[place_++].turn];
    if (p.active == 0 || !open.has(p.port)) continue;
    if (p.position >= p.active) p.position = 0;
    std::uint16_t* const run = order_.begin() + p.begin;
    const auto rest = static_cast<std::uint32_t>(p.active - p.position);
    std::swap(run[p.position],
              run[p.position + prng.below(reach_ == 0 ? rest : std::min<std::uint32_t>(reach_, rest))]);
    return EvSlot(run[p.position++]);
  }
  return std::nullopt;
}

void Rotation::admit(EvSlot s) {
  Plane& p = planes_[plane_of(table_[s.value].port)];
  if (p.active >= p.target) return;
  std::uint16_t* const at = find(p, s);
  std::uint16_t* const first_out = order_.begin() + p.begin + p.active;
  if (at < first_out) return;
  std::swap(*at, *first_out);
  ++p.active;
  ++active_;
}

bool Rotation::contains(EvSlot s) const {
  const auto run = in_rotation(plane_of(table_[s.value].port));
  return std::find(run.begin(), run.end(), s.value) != run.end();
}

std::uint16_t* Rotation::find(Plane& p, EvSlot s) {
  return std::find(order_.begin() + p.begin, order_.begin() + p.begin + p.count, s.value);
}

}  // namespace mrc::engine
