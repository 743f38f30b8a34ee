// The mapper in mrcd: this node's probes over the fabric, and what follows from them for the EV profiles of
// mrcd's devices.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "daemon/device_state.h"
#include "map/denylist.h"
#include "map/mapper.h"

namespace mrc::daemon {

class Mapping {
 public:
  /// `fabric`: a topology file, as `mrc topo` takes it; `host`: which of its hosts this node is.
  static Result<std::unique_ptr<Mapping>> open(const std::string& fabric, const std::string& host);

  int fd() const { return mapper_->fd(); }
  /// Until turn() has something to do, at most.
  int wait_ms() const;
  /// True when the findings have changed. Says on stderr what was found and what has gone.
  bool turn();
  /// Brings the EVs of one profile in line with the findings.
  map::Denylist::Change apply(DeviceState& device, std::uint64_t profile);
  /// What that has denied of it so far.
  const std::vector<node::EvValue>& denied(DeviceState& device, std::uint64_t profile) {
    return list_of(device).denied(profile);
  }
  std::size_t findings() const { return mapper_->survey().findings().size(); }

 private:
  Mapping(topo::Topology topo, map::HostId host) : topo_(std::move(topo)), host_(host) {}
  map::Denylist& list_of(DeviceState& device) {
    return denylists_.try_emplace(&device, topo_, host_, device.profiles).first->second;
  }
  void tell_news();

  topo::Topology topo_;
  map::HostId host_;
  std::unique_ptr<map::Mapper> mapper_;
  std::map<DeviceState*, map::Denylist> denylists_;
  std::uint64_t told_ = 0;  // events
};

}  // namespace mrc::daemon
