// Source routes out of the fabric's numbers: EV and destination address give the uSID carriers, by
// arithmetic.
#pragma once

#include "datapath/source_routes.h"
#include "topo/topo.h"

namespace mrc::node {

class TopologyRoutes final : public datapath::SourceRoutes {
 public:
  /// `topo` must outlive it.
  TopologyRoutes(const topo::Topology& topo, topo::HostId host) : topo_(topo), host_(host) {}

  bool find(const nic::Gid& to, Ev ev, datapath::SourceRoute& out) const override;

 private:
  const topo::Topology& topo_;
  topo::HostId host_;
};

}  // namespace mrc::node
