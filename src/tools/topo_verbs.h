// What the verbs of `mrc topo` do once their options are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "topo/topo.h"

namespace mrc::tools {

Status print_description(const topo::Topology& t, bool json);

struct PathQuery {
  std::string from, to, ev, carrier;
  std::uint32_t limit = 64;
  bool json = false;
};
Status print_paths(const topo::Topology& t, const PathQuery& q);

struct TouchedQuery {
  std::string name, from, to;
  bool json = false;
};
Status print_touched(const topo::Topology& t, const TouchedQuery& q);
/// The EVs that a link or switch touches, of two hosts or of any.
Result<topo::EvSet> touched(const topo::Topology& t, const TouchedQuery& q);

struct EmitQuery {
  std::string format, node, directory, to;
  std::vector<std::string> slow;  // NAME=PART: profiles know that this link or switch is slow
  std::uint32_t per_plane = 16;
  std::uint32_t lanes = 1;
  bool apply = false;
};
Status emit(const topo::Topology& t, const EmitQuery& q);

struct CompareQuery {
  std::uint32_t switch_ports = 64, planes = 8;
  std::string nic = "800G";
  std::vector<std::string> files;
  bool json = false;
};
Status print_comparison(const CompareQuery& q);

/// A host by its name, or a sentence that says which there are.
Result<topo::HostId> find_host(const topo::Topology& t, const std::string& name);

}  // namespace mrc::tools
