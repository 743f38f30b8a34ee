// The 128 bytes that NCCL carries from the side that listens to the side that connects.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl/types.h"

namespace mrc::nccl {

using IpAddress = std::array<std::uint8_t, 16>;  // IPv4 as ::ffff:a.b.c.d

/// As it lies in memory. The connecting side keeps the number of its attempt in `ticket`, because NCCL calls
/// connect again and again with the same handle; it arrives as 0.
struct Handle {
  static constexpr int kAddresses = 5;  // of different ports, so that one dead plane keeps nobody out

  std::uint32_t magic;
  std::uint8_t protocol;
  std::uint8_t qps;
  std::uint8_t count;  // of addresses
  std::uint8_t reserved;
  std::uint16_t tcp_port;
  std::uint8_t padding[6];
  std::uint64_t cookie;  // what the caller says: nobody else is let in
  std::uint64_t ticket;
  std::array<IpAddress, kAddresses> addresses;
  std::uint64_t answer;  // what the listener says, to strangers too
};
static_assert(sizeof(Handle) <= kHandleBytes);

/// REQUIRES addresses not empty; those beyond kAddresses are left out.
Handle make_handle(const std::vector<IpAddress>& addresses, std::uint16_t tcp_port, std::uint8_t qps,
                   std::uint64_t cookie, std::uint64_t answer);
/// Of all the peer's ports, as far as they are known: where they did not fit, they follow from those of ours.
std::vector<IpAddress> addresses_of(const Handle& handle, const std::vector<IpAddress>& ours);
/// EPROTO says what is wrong with it.
Status check(const Handle& handle);
bool is_v4(const IpAddress& address);
std::string text_of(const IpAddress& address);

}  // namespace mrc::nccl
