#include "nccl/handle.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "nccl/protocol.h"

namespace mrc::nccl {

Handle make_handle(const std::vector<IpAddress>& addresses, std::uint16_t tcp_port, std::uint8_t qps,
                   std::uint64_t cookie, std::uint64_t answer) {
  Handle handle{};
  handle.magic = kMagic;
  handle.protocol = kProtocol;
  handle.qps = qps;
  handle.count = static_cast<std::uint8_t>(std::min<std::size_t>(addresses.size(), Handle::kAddresses));
  handle.tcp_port = tcp_port;
  handle.cookie = cookie;
  handle.answer = answer;
  std::copy_n(addresses.begin(), handle.count, handle.addresses.begin());
  return handle;
}

std::vector<IpAddress> addresses_of(const Handle& handle, const std::vector<IpAddress>& ours) {
  std::vector<IpAddress> all(handle.addresses.begin(), handle.addresses.begin() + handle.count);
  if (all.size() < Handle::kAddresses) return all;
  for (std::size_t plane = all.size(); plane < ours.size(); ++plane) {
    IpAddress address = all[0];
    for (std::size_t i = 0; i < address.size(); ++i) address[i] ^= ours[plane][i] ^ ours[0][i];
    all.push_back(address);
  }
  return all;
}

Status check(const Handle& handle) {
  if (handle.magic != kMagic) {
    return Error{EPROTO, "the peer's handle is not OpenMRC's: is the same NCCL_NET_PLUGIN set on all ranks?"};
  }
  if (handle.protocol != kProtocol) {
    return Error{EPROTO, "the peer's plugin speaks protocol " + std::to_string(handle.protocol) +
                             ", this one " + std::to_string(kProtocol) +
                             ": install the same OpenMRC on all ranks"};
  }
  const bool sane =
      handle.count >= 1 && handle.count <= Handle::kAddresses && handle.qps >= 1 && handle.tcp_port != 0;
  return sane ? Status(Done{}) : Status(Error{EPROTO, "the peer's handle is damaged"});
}

bool is_v4(const IpAddress& address) {
  static constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(address.data(), kMapped, sizeof kMapped) == 0;
}

std::string text_of(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool v4 = is_v4(address);
  ::inet_ntop(v4 ? AF_INET : AF_INET6, address.data() + (v4 ? 12 : 0), text, sizeof text);
  return text;
}

}  // namespace mrc::nccl
