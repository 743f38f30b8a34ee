// What can be wrong with a requestor on two planes, one defect at a time.
#include "twin.h"

namespace mrc::conform {
namespace {

constexpr int kEvs = 16;  // on each plane

/// By the EVs that nic::testing::make_paths gives it.
bool is_of_second_plane(Ev ev) { return (ev.value & 0xFF00) == 0xC200; }

}  // namespace

std::vector<Defect> plane_defects() {
  return {
      {.name = "one plane for all",
       .check = "planes_share",
       .adjust = [](auto& c, auto&, auto&) { c.paths = nic::testing::make_paths(1, kEvs); },
       .planes = 2},
      {.name = "stays on a silent plane",
       .check = "plane_left",
       .adjust = [](auto& c, auto&, auto&) { c.path_settings.min_active = kEvs + 1; },
       .planes = 2},
      {.name = "never takes a plane back",
       .check = "plane_returns",
       .in =
           [](Twin&, Passing& p) {
             const auto* sack = p.as<wire::Sack>();
             return sack == nullptr || !sack->probe_reply || !is_of_second_plane(sack->entropy);
           },
       .planes = 2},
  };
}

}  // namespace mrc::conform
