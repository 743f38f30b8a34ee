// Linux by iproute2: one script per node.
#include <sstream>

#include "topo/emit.h"

namespace mrc::topo {
namespace {

std::string mac_text(const Mac& m) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
  return text;
}

void write_interface(std::ostream& out, const InterfaceConfig& i) {
  out << "link set dev " << i.name << " up\n";
  out << "address add " << to_string(i.link_local) << "/64 dev " << i.name << " nodad\n";
  for (const Ipv6Prefix& a : i.addresses)
    out << "address add " << to_string(a) << " dev " << i.name << " nodad\n";
}

void write_sid(std::ostream& out, const LocalSid& sid, int locator_bits) {
  out << "route add " << to_string(sid.prefix) << " encap seg6local action ";
  if (sid.behavior == SidBehavior::un) {
    out << "End flavors next-csid lblen " << locator_bits << " nflen 16";
  } else {
    out << "End.DT6 table 255";
  }
  out << " dev " << sid.interface << "\n";
}

void write_route(std::ostream& out, const StaticRoute& r) {
  out << "route add " << to_string(r.prefix);
  for (const NextHop& n : r.next_hops) {
    out << (r.next_hops.size() > 1 ? " nexthop" : "") << " via " << to_string(n.via) << " dev "
        << n.interface;
  }
  out << "\n";
}

}  // namespace

std::string emit_iproute2(const NodeConfig& node) {
  std::ostringstream out;
  out << "#!/bin/sh\n# " << node.name
      << ": SRv6 uSID, static. Run as root in the node's network namespace.\nset -e\n";
  out << "sysctl -qw net.ipv6.conf.all.forwarding=" << (node.node.tier == Tier::host ? 0 : 1)
      << " net.ipv6.conf.all.seg6_enabled=1\n";
  for (const InterfaceConfig& i : node.interfaces) {
    out << "sysctl -qw net.ipv6.conf." << i.name << ".seg6_enabled=1  # to " << i.peer
        << ", whose MAC in a lab is " << mac_text(i.peer_mac) << "\n";
  }
  out << "ip -6 -batch - <<'END'\n";
  for (const InterfaceConfig& i : node.interfaces) write_interface(out, i);
  for (const LocalSid& sid : node.sids) write_sid(out, sid, node.locator_bits);
  for (const StaticRoute& r : node.sid_routes) write_route(out, r);
  for (const StaticRoute& r : node.plain_routes) write_route(out, r);
  out << "END\n";
  return out.str();
}

}  // namespace mrc::topo
