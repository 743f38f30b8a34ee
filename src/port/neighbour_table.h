// The kernel's neighbours at one interface, kept as it tells of them: asking it for one may wait behind
// whoever configures the network, and packets can't.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "port/netlink.h"
#include "wire/address.h"

namespace mrc::port {

struct Neighbour {
  std::optional<wire::MacAddress> mac;  // nothing: nobody answered
  bool old = false;                     // known, and due to be confirmed
  bool operator==(const Neighbour&) const = default;
};

class NeighbourTable {
 public:
  explicit NeighbourTable(std::uint32_t interface) : interface_(interface) {}

  /// Reads all that the kernel knows, through a socket for questions.
  void load(int socket);
  /// One of the kernel's messages; the address whose neighbour is another now.
  std::optional<wire::IpAddress> handle(const nlmsghdr& message);
  /// Null: the kernel has not looked for it, or is looking.
  const Neighbour* find(const wire::IpAddress& address) const;

 private:
  bool note(const wire::IpAddress& who, const Neighbour& now);

  std::uint32_t interface_;
  std::unordered_map<wire::IpAddress, Neighbour> all_;
};

}  // namespace mrc::port
