// From what probes report to what is broken.
//
// A fault explains the probes that crossed it. What an answered probe crossed is innocent; of the rest, the
// thing that explains most of the lost probes is named first, then what explains most of those left over, and
// so on. First for dead probes, then for lossy ones, less what the losses found already account for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "map/observation.h"

namespace mrc::map {

enum class What : std::uint8_t { link, one_way, node };
enum class Fault : std::uint8_t { dead, lossy };

struct Culprit {
  What what = What::link;
  Fault fault = Fault::dead;
  topo::Hop hop{};      // the link; one_way: that direction of it
  topo::Node node{};    // a switch
  double loss = 1;      // of one crossing there and back
  bool settled = true;  // nothing that is still being looked at could change the name

  /// The same thing, whatever is wrong with it.
  bool same_thing(const Culprit& o) const { return what == o.what && hop == o.hop && node == o.node; }
  bool operator==(const Culprit&) const = default;
};

std::string name(const topo::Topology& topo, const Culprit& c);
/// Does a way that crosses these hops and switches meet it?
bool touches(const topo::Topology& topo, const Culprit& c, std::span<const topo::Hop> hops);

struct CulpritSettings {
  double lossy_at = 0.02;  // a rest of loss below this needs no further explanation
};
std::vector<Culprit> find_culprits(const topo::Topology& topo, std::span<const Observation> observations,
                                   const CulpritSettings& settings);

}  // namespace mrc::map
