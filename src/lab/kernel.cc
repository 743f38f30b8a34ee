#include "lab/kernel.h"

#include <linux/ethtool.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/seg6.h>
#include <linux/seg6_iptunnel.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace mrc::lab {
namespace {

constexpr std::uint8_t kSegmentRouting = 4;  // routing header type
constexpr unsigned kLoopback = 1;            // its index in every network namespace

Error refusal(const std::string& doing, const nlmsgerr& answer) {
  return {-answer.error, doing + ": the kernel says " + std::strerror(-answer.error) + " (netlink message " +
                             std::to_string(answer.msg.nlmsg_type) + ", number " +
                             std::to_string(answer.msg.nlmsg_seq) + ")"};
}

/// Takes the acknowledgements of one datagram off `expected`.
Status take_answers(const char* data, std::size_t size, std::size_t& expected, const std::string& doing) {
  for (std::size_t at = 0; at + sizeof(nlmsghdr) <= size;) {
    nlmsghdr h;
    std::memcpy(&h, data + at, sizeof h);
    if (h.nlmsg_len < sizeof h || at + h.nlmsg_len > size) break;
    if (h.nlmsg_type == NLMSG_ERROR && h.nlmsg_len >= sizeof h + sizeof(nlmsgerr)) {
      nlmsgerr answer;
      std::memcpy(&answer, data + at + sizeof h, sizeof answer);
      if (answer.error != 0) return refusal(doing, answer);
      --expected;
    }
    at += NLMSG_ALIGN(h.nlmsg_len);
  }
  return Done{};
}

Status send_one(int netlink, const std::uint8_t* message, std::size_t size, const std::string& doing) {
  if (::send(netlink, message, size, 0) != static_cast<ssize_t>(size))
    return Error{errno, doing + ": " + std::strerror(errno)};
  char answer[8192];
  for (std::size_t expected = 1; expected > 0;) {
    const ssize_t n = ::recv(netlink, answer, sizeof answer, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error{errno, doing + ": no answer from the kernel: " + std::strerror(errno)};
    if (auto taken = take_answers(answer, static_cast<std::size_t>(n), expected, doing); !taken) return taken;
  }
  return Done{};
}

void describe_end(Messages& out, const CableEnd& end, std::uint32_t mtu) {
  out.attribute(IFLA_IFNAME, end.name.c_str(), end.name.size() + 1);
  out.attribute(IFLA_ADDRESS, end.mac);
  out.attribute(IFLA_MTU, mtu);
}

ifinfomsg about(unsigned index) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  return header;
}

}  // namespace

// One message at a time: a batch in one datagram would go on after a refusal, and say so too late.
Status apply(int netlink, const std::vector<std::uint8_t>& batch, const std::string& doing) {
  for (std::size_t at = 0; at < batch.size();) {
    nlmsghdr h;
    std::memcpy(&h, &batch[at], sizeof h);
    if (auto sent = send_one(netlink, &batch[at], h.nlmsg_len, doing); !sent) return sent;
    at += NLMSG_ALIGN(h.nlmsg_len);
  }
  return Done{};
}

void settle_carrier(int socket, const std::string& interface) {
  ethtool_value question{};
  question.cmd = ETHTOOL_GLINK;
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  request.ifr_data = reinterpret_cast<char*>(&question);
  ::ioctl(socket, SIOCETHTOOL, &request);  // its answer is not needed
}

void add_cable(Messages& out, const CableEnd& here, const CableEnd& there, std::uint32_t mtu) {
  out.begin(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, about(here.index));
  describe_end(out, here, mtu);
  out.nested(IFLA_LINKINFO, [&] {
    out.attribute(IFLA_INFO_KIND, "veth", sizeof "veth");
    out.nested(IFLA_INFO_DATA, [&] {
      out.nested(VETH_INFO_PEER, [&] {
        out.header(about(there.index));
        describe_end(out, there, mtu);
        out.attribute(IFLA_NET_NS_FD, there.space);
      });
    });
  });
  out.end();
}

void set_link(Messages& out, unsigned index, bool up) {
  ifinfomsg header = about(index);
  header.ifi_flags = up ? IFF_UP : 0;
  header.ifi_change = IFF_UP;
  out.begin(RTM_NEWLINK, 0, header);
  out.end();
}

void add_neighbour(Messages& out, unsigned index, const Ipv6& address, const topo::Mac& mac) {
  ndmsg header{};
  header.ndm_family = AF_INET6;
  header.ndm_ifindex = static_cast<int>(index);
  header.ndm_state = NUD_PERMANENT;
  out.begin(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, header);
  out.attribute(NDA_DST, address.bytes);
  out.attribute(NDA_LLADDR, mac);
  out.end();
}

void add_encapsulation(Messages& out, std::uint32_t table, const Ipv6& destination, const Ipv6& carrier,
                       unsigned index) {
  constexpr std::size_t kModeBytes = sizeof(int);
  std::uint8_t tunnel[kModeBytes + sizeof(ipv6_sr_hdr) + sizeof carrier.bytes] = {};
  const int mode = SEG6_IPTUN_MODE_ENCAP_RED;
  ipv6_sr_hdr head{};
  head.hdrlen = sizeof carrier.bytes / 8;
  head.type = kSegmentRouting;
  std::memcpy(tunnel, &mode, kModeBytes);
  std::memcpy(tunnel + kModeBytes, &head, sizeof head);
  std::memcpy(tunnel + kModeBytes + sizeof head, carrier.bytes.data(), carrier.bytes.size());
  rtmsg header{};
  header.rtm_family = AF_INET6;
  header.rtm_dst_len = 128;
  header.rtm_table = RT_TABLE_UNSPEC;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_UNIVERSE;
  header.rtm_type = RTN_UNICAST;
  out.begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, header);
  out.attribute(RTA_TABLE, table);
  out.attribute(RTA_DST, destination.bytes);
  out.attribute(RTA_OIF, index);
  out.attribute(RTA_ENCAP_TYPE, std::uint16_t{LWTUNNEL_ENCAP_SEG6});
  out.nested(RTA_ENCAP, [&] { out.attribute(SEG6_IPTUNNEL_SRH, tunnel, sizeof tunnel); });
  out.end();
}

void add_local_prefix(Messages& out, const Ipv6Prefix& prefix) {
  rtmsg header{};
  header.rtm_family = AF_INET6;
  header.rtm_dst_len = static_cast<unsigned char>(prefix.length);
  header.rtm_table = RT_TABLE_LOCAL;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = RT_SCOPE_HOST;
  header.rtm_type = RTN_LOCAL;
  out.begin(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, header);
  out.attribute(RTA_DST, prefix.address.bytes);
  out.attribute(RTA_OIF, kLoopback);
  out.end();
}

void add_source_port_rule(Messages& out, PortSpan ports, std::uint32_t table, std::uint32_t priority) {
  fib_rule_hdr header{};
  header.family = AF_INET6;
  header.action = FR_ACT_TO_TBL;
  out.begin(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, header);
  out.attribute(FRA_PRIORITY, priority);
  out.attribute(FRA_TABLE, table);
  out.attribute(FRA_IP_PROTO, std::uint8_t{IPPROTO_UDP});
  out.attribute(FRA_SPORT_RANGE, fib_rule_port_range{ports.first, ports.last});
  out.end();
}

}  // namespace mrc::lab
