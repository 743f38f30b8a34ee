#include "map/this_node.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "port/address.h"
#include "port/fd.h"

namespace mrc::map {
namespace {

/// Hosts of the fabric that this node has addresses of: one, or none.
Result<std::vector<topo::HostId>> hosts_here(const topo::Topology& topo) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return port::errno_error("list the interfaces");
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<topo::HostId> out;
  for (const ifaddrs* a = list; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET6) continue;
    if (const auto at = topo.host_at(Ipv6{port::from_socket_address(*a->ifa_addr).ip}))
      out.push_back(at->host);
  }
  return out;
}

}  // namespace

Status check_this_node(const topo::Topology& topo, topo::HostId host) {
  const auto here = hosts_here(topo);
  if (!here) return here.error();
  if (std::find(here->begin(), here->end(), host) != here->end()) return Done{};
  const std::string name = topo.name(topo::host_node(host));
  if (here->empty()) {
    const std::string first = to_string(topo.address(host, 0));
    return Error{ENOENT,
                 "no port of this node has an address of that fabric, such as " + first + " of " + name +
                     ": run it there, or give the ports their addresses, as 'mrc topo emit' writes them"};
  }
  const std::string other = topo.name(topo::host_node(here->front()));
  return Error{ENOENT,
               "this node has the addresses of " + other + ", not of " + name + ": say --host " + other};
}

}  // namespace mrc::map
