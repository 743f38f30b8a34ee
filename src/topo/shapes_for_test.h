// Fabrics that the tests walk through: one of each kind, small enough to enumerate.
#pragma once

#include <vector>

#include "topo/topo.h"

namespace mrc::topo {

inline Spec one_tier() { return {.planes = 2, .tiers = 1, .t0 = 1, .hosts_per_t0 = 3}; }
inline Spec two_tiers() { return {.planes = 4, .tiers = 2, .t0 = 3, .t1 = 5, .hosts_per_t0 = 2}; }
inline Spec three_tiers() {
  return {.planes = 3, .tiers = 3, .pods = 3, .t0 = 2, .t1 = 3, .t2 = 2, .hosts_per_t0 = 2, .hosts = 11};
}
/// 131,072 NICs x 8 planes of 512-port switches.
inline Spec published() {
  return {.planes = 8, .tiers = 2, .t0 = 512, .t1 = 256, .hosts_per_t0 = 256, .radix = 512};
}
inline std::vector<Spec> small_shapes() { return {one_tier(), two_tiers(), three_tiers()}; }

}  // namespace mrc::topo
