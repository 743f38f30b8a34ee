#include "port/about.h"

#include <netinet/in.h>

#include <ctime>

#include "port/udp_socket.h"
#include "wire/bytes.h"

namespace mrc::port {
namespace {

std::int64_t nanoseconds(const timespec& at) { return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec; }

void read_v4(const cmsghdr& control, About& about) {
  if (control.cmsg_type == IP_TOS) about.tos = value_of<std::uint8_t>(control);
  if (control.cmsg_type != IP_PKTINFO) return;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr = value_of<in_pktinfo>(control).ipi_addr;
  about.to = from_socket_address(reinterpret_cast<const sockaddr&>(to));
}

/// Class and flow label, as the first four bytes of a header have them.
void read_info(std::uint32_t info, About& about) {
  about.flow_label = info & 0xFFFFF;
  about.tos = static_cast<std::uint8_t>(info >> 20);
}

Address v6_address(const void* bytes, std::uint32_t interface) {
  Address out;
  std::memcpy(out.ip.data(), bytes, 16);
  out.scope = IN6_IS_ADDR_LINKLOCAL(bytes) ? interface : 0;
  return out;
}

void read_v6(const cmsghdr& control, About& about) {
  if (control.cmsg_type == kIpv6FlowInfo) read_info(ntohl(value_of<std::uint32_t>(control)), about);
  if (control.cmsg_type != IPV6_PKTINFO) return;
  const auto info = value_of<in6_pktinfo>(control);
  about.to = v6_address(&info.ipi6_addr, info.ipi6_ifindex);
}

}  // namespace

void About::read(const cmsghdr& control) {
  if (control.cmsg_level == IPPROTO_IP) read_v4(control, *this);
  if (control.cmsg_level == IPPROTO_IPV6) read_v6(control, *this);
  if (control.cmsg_level == SOL_SOCKET && control.cmsg_type == SO_TIMESTAMPNS)
    arrival_ns = nanoseconds(value_of<timespec>(control));
}

void About::read(const DoorwayMemory::Letter& letter, const std::uint8_t* udp) {
  source_port = wire::load16(udp);
  if (!to.is_v4()) {
    read_info(wire::load32(letter.ip), *this);
    from = v6_address(letter.ip + 8, letter.interface);
    to = v6_address(letter.ip + 24, letter.interface);
    return;
  }
  tos = letter.ip[1];
  from = to;  // in their mapped form, all but the last four bytes are the same
  std::memcpy(from.ip.data() + 12, letter.ip + 12, 4);
  std::memcpy(to.ip.data() + 12, letter.ip + 16, 4);
}

}  // namespace mrc::port
