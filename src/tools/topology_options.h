// How a command is told a fabric: a TOML file, flags, or a file with flags that override it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "topo/topo.h"

namespace CLI {
class App;
}

namespace mrc::tools {

struct TopologyOptions {
  std::string file;
  std::optional<std::uint32_t> planes, tiers, pods, t0, t1, t2, hosts_per_t0, hosts, radix;
  std::string rate, delay;  // of every link

  Result<topo::Topology> make() const;
};

/// Adds --file, --planes, --t0 and the rest to a command. The result lives as long as the commands' functions
/// keep it.
std::shared_ptr<TopologyOptions> add_topology_options(CLI::App& app);

}  // namespace mrc::tools
