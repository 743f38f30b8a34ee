// FRRouting: a locator, its uN SID and static routes; no routing protocol runs. FRR 10.3 and later know
// static SIDs.
#include <sstream>

#include "topo/emit.h"

namespace mrc::topo {

std::string emit_frr(const NodeConfig& node) {
  std::ostringstream out;
  out << "frr defaults datacenter\nhostname " << node.name << "\nservice integrated-vtysh-config\n!\n";
  for (const InterfaceConfig& i : node.interfaces) {
    out << "interface " << i.name << "\n description " << i.peer << "\n ipv6 address "
        << to_string(i.link_local) << "/64\n exit\n!\n";
  }
  for (const StaticRoute& r : node.sid_routes) {
    for (const NextHop& n : r.next_hops) {
      out << "ipv6 route " << to_string(r.prefix) << " " << to_string(n.via) << " " << n.interface << "\n";
    }
  }
  for (const StaticRoute& r : node.plain_routes) {
    for (const NextHop& n : r.next_hops) {
      out << "ipv6 route " << to_string(r.prefix) << " " << to_string(n.via) << " " << n.interface << "\n";
    }
  }
  out << "!\nsegment-routing\n srv6\n  locators\n";
  for (const LocalSid& sid : node.sids) {
    out << "   locator MRC\n    prefix " << to_string(sid.prefix) << " block-len " << node.locator_bits
        << " node-len 16 func-bits 0\n    behavior usid\n   exit\n  exit\n  !\n  static-sids\n   sid "
        << to_string(sid.prefix) << " locator MRC behavior uN\n  exit\n";
  }
  out << " exit\nexit\n!\n";
  return out.str();
}

}  // namespace mrc::topo
