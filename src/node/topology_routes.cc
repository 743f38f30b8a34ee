#include "node/topology_routes.h"

namespace mrc::node {

bool TopologyRoutes::find(const nic::Gid& to, Ev ev, datapath::SourceRoute& out) const {
  const auto there = topo_.host_at(Ipv6{to.bytes});
  const auto choice = topo_.choice(ev);
  // A NIC's address is of one plane: an EV of another can not lead to it.
  if (!there || !choice || choice->plane != there->plane || there->host == host_) return false;
  const topo::Carriers carriers = topo_.carriers(topo_.usids(topo_.path(host_, there->host, *choice)));
  out.first = {carriers.addresses[0].bytes, 0};
  out.next = {carriers.addresses[1].bytes, 0};
  out.carriers = carriers.count;
  return true;
}

}  // namespace mrc::node
