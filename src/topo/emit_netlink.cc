// Linux by netlink: the messages that bring a node up, as bytes for one NETLINK_ROUTE socket.
#include <linux/if.h>
#include <linux/lwtunnel.h>
#include <linux/rtnetlink.h>
#include <linux/seg6_local.h>

#include <cerrno>
#include <cstring>

#include "topo/emit.h"
#include "topo/netlink_messages.h"

namespace mrc::topo {
namespace {

constexpr std::uint32_t kNextCsid = 1u << SEG6_LOCAL_FLV_OP_NEXT_CSID;
constexpr std::uint8_t kUsidBits = 16;

void link_up(NetlinkMessages& out, unsigned index) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  header.ifi_flags = header.ifi_change = IFF_UP;
  out.begin(RTM_NEWLINK, 0, header);
  out.end();
}

void add_address(NetlinkMessages& out, const Ipv6& a, int length, unsigned index) {
  ifaddrmsg header{};
  header.ifa_family = AF_INET6;
  header.ifa_prefixlen = static_cast<std::uint8_t>(length);
  header.ifa_flags = IFA_F_NODAD;
  header.ifa_index = index;
  out.begin(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, header);
  out.attribute(IFA_LOCAL, a.bytes);
  out.attribute(IFA_ADDRESS, a.bytes);
  out.end();
}

void begin_route(NetlinkMessages& out, const Ipv6Prefix& prefix) {
  rtmsg header{};
  header.rtm_family = AF_INET6;
  header.rtm_dst_len = static_cast<std::uint8_t>(prefix.length);
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_UNIVERSE;
  header.rtm_type = RTN_UNICAST;
  out.begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, header);
  out.attribute(RTA_DST, prefix.address.bytes);
}

void add_sid(NetlinkMessages& out, const LocalSid& sid, int locator_bits, unsigned index) {
  begin_route(out, sid.prefix);
  out.attribute(RTA_OIF, index);
  out.attribute(RTA_ENCAP_TYPE, std::uint16_t{LWTUNNEL_ENCAP_SEG6_LOCAL});
  out.nested(RTA_ENCAP, [&] {
    if (sid.behavior == SidBehavior::decapsulate) {
      out.attribute(SEG6_LOCAL_ACTION, std::uint32_t{SEG6_LOCAL_ACTION_END_DT6});
      out.attribute(SEG6_LOCAL_TABLE, std::uint32_t{RT_TABLE_LOCAL});  // where the host's own addresses are
      return;
    }
    out.attribute(SEG6_LOCAL_ACTION, std::uint32_t{SEG6_LOCAL_ACTION_END});
    out.nested(SEG6_LOCAL_FLAVORS | NLA_F_NESTED, [&] {
      out.attribute(SEG6_LOCAL_FLV_OPERATION, kNextCsid);
      out.attribute(SEG6_LOCAL_FLV_LCBLOCK_BITS, static_cast<std::uint8_t>(locator_bits));
      out.attribute(SEG6_LOCAL_FLV_LCNODE_FN_BITS, kUsidBits);
    });
  });
  out.end();
}

/// Adds a route, or names the interface that is missing.
Result<Done> add_route(NetlinkMessages& out, const StaticRoute& r,
                       const std::function<unsigned(const std::string&)>& index_of) {
  for (const NextHop& n : r.next_hops) {
    if (index_of(n.interface) == 0) return Error{ENODEV, n.interface + ": there is no such interface"};
  }
  begin_route(out, r.prefix);
  if (r.next_hops.size() == 1) {
    out.attribute(RTA_OIF, index_of(r.next_hops[0].interface));
    out.attribute(RTA_GATEWAY, r.next_hops[0].via.bytes);
  } else {
    out.nested(RTA_MULTIPATH, [&] {
      for (const NextHop& n : r.next_hops) {
        out.next_hop(index_of(n.interface), [&] { out.attribute(RTA_GATEWAY, n.via.bytes); });
      }
    });
  }
  out.end();
  return Done{};
}

}  // namespace

Result<std::vector<std::uint8_t>> emit_netlink(const NodeConfig& node,
                                               const std::function<unsigned(const std::string&)>& index_of) {
  NetlinkMessages out;
  for (const InterfaceConfig& i : node.interfaces) {
    const unsigned index = index_of(i.name);
    if (index == 0) return Error{ENODEV, i.name + ": there is no such interface"};
    link_up(out, index);
    add_address(out, i.link_local, 64, index);
    for (const Ipv6Prefix& a : i.addresses) add_address(out, a.address, a.length, index);
  }
  for (const LocalSid& sid : node.sids) add_sid(out, sid, node.locator_bits, index_of(sid.interface));
  for (const auto* routes : {&node.sid_routes, &node.plain_routes}) {
    for (const StaticRoute& r : *routes) {
      if (auto added = add_route(out, r, index_of); !added) return added.error();
    }
  }
  return out.take();
}

}  // namespace mrc::topo
