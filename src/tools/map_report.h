// What `mrc map` prints: findings, links and nodes as tables, and the same as JSON.
#pragma once

#include <string>
#include <vector>

#include "tools/map_nodes.h"

namespace mrc::tools {

struct MapPicture {
  const topo::Topology& topo;
  const map::Survey& survey;
  std::vector<NodeReport> nodes;
  Duration ran{0};
  Time began{};
};

/// "found p0.t0.0-p0.t1.1 dead", with the time since the beginning.
std::string event_line(const MapPicture& p, const map::Event& e);
std::string event_json(const MapPicture& p, const map::Event& e);
std::string map_text(const MapPicture& p, bool all_links);
std::string map_json(const MapPicture& p);

}  // namespace mrc::tools
