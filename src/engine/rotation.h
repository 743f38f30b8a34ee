// Whose turn is it? EVs in rotation, plane by plane, in an order that is shuffled anew each round.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/fixed_array.h"
#include "base/ids.h"
#include "base/prng.h"

namespace mrc::engine {

struct Path {
  Ev ev;
  PortId port;
};

/// Planes take turns, so they stay evenly loaded however many EVs each has left; within a plane, and among
/// planes, a round is a fresh shuffle, so that no two QPs march in step. Each plane keeps `active_per_plane`
/// EVs in rotation and the rest in reserve. Between rounds an EV moves forward by less than `reach` places
/// at a time: packets on one path then come at nearly even distances, and the queues of a full fabric stay
/// shorter than with rounds that know nothing of each other.
///
/// A path that stands in the table several times is how a controller says that it carries more: it is one
/// path, named by its first slot, with as many turns per round, at even distances. A plane with such copies
/// has no reserve.
class Rotation {
 public:
  Rotation(std::span<const Path> table, std::uint16_t active_per_plane, std::uint8_t reach, Prng& prng);

  /// The next EV through a port of `open`; none when no plane with EVs is open.
  std::optional<EvSlot> next(PortMask open, Prng& prng);

  /// Takes an EV out. Its place goes to one of the same plane's reserve for which `fit(slot)`, if there is
  /// any.
  template <class Fit>
  void withdraw(EvSlot s, Fit&& fit);
  /// Puts an EV back: into rotation while its plane is short, else into the reserve.
  void admit(EvSlot s);

  bool contains(EvSlot s) const;
  int active() const { return active_; }
  int planes() const { return static_cast<int>(planes_.size()); }
  bool has_copies() const;
  int plane_of(PortId port) const { return plane_of_port_[port.value]; }
  PortId port_of(int plane) const { return planes_[plane].port; }
  int active_in(int plane) const { return planes_[plane].active; }
  /// The same, copies not counted.
  int paths_in(int plane) const;
  std::span<const std::uint16_t> in_rotation(int plane) const {
    return {order_.begin() + planes_[plane].begin, planes_[plane].active};
  }
  std::size_t bytes() const { return order_.bytes() + planes_.bytes(); }

 private:
  /// A run of `order_`: [begin, begin + active) is in rotation, up to begin + count is not.
  struct Plane {
    PortId port;
    std::uint8_t turn = 0;  // index of the plane that has this place in the round of planes
    std::uint16_t begin = 0, count = 0, active = 0, position = 0, target = 0;
    bool copies() const { return target == kNoReserve; }  // some path stands in it several times
  };
  static constexpr std::uint16_t kNoReserve = 0xFFFF;
  std::uint16_t* find(Plane& p, EvSlot s);
  void arrange(Plane& p, Prng& prng);
  void withdraw_copies(Plane& p, EvSlot s);
  void admit_copies(Plane& p, EvSlot s);

  std::span<const Path> table_;
  FixedArray<std::uint16_t> order_;
  FixedArray<Plane> planes_;
  std::uint8_t plane_of_port_[kMaxPorts + 1] = {};
  std::uint8_t place_ = 0;  // within the round of planes
  std::uint8_t reach_;      // 0: anywhere
  int active_ = 0;
};

/// The slot that a path is known by: the first in which it stands.
EvSlot first_copy(std::span<const Path> table, EvSlot s);

template <class Fit>
void Rotation::withdraw(EvSlot s, Fit&& fit) {
  Plane& p = planes_[plane_of(table_[s.value].port)];
  if (p.copies()) return withdraw_copies(p, s);
  std::uint16_t* const at = find(p, s);
  std::uint16_t* const first_out = order_.begin() + p.begin + p.active;
  if (at >= first_out) return;
  for (std::uint16_t* r = first_out; r != order_.begin() + p.begin + p.count; ++r) {
    if (!fit(EvSlot(*r))) continue;
    std::swap(*at, *r);
    return;
  }
  std::swap(*at, first_out[-1]);
  --p.active;
  --active_;
}

}  // namespace mrc::engine
