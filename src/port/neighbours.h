// Which MAC address a frame to an IP address needs: asks the kernel's routes and neighbour table, and
// remembers.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "port/address.h"
#include "port/fd.h"
#include "wire/address.h"

namespace mrc::port {

class Neighbours {
 public:
  /// Next hops by this interface, in the caller's network namespace.
  static Result<Neighbours> open(std::uint32_t interface);

  /// The next hop's MAC on the way to `to`. Unknown: the kernel is set to find out, and a later call may
  /// know.
  std::optional<wire::MacAddress> find(const Address& to);
  /// Readable when routes or neighbours change.
  int fd() const { return events_.get(); }
  /// Forgets what was remembered if something changed.
  void update();

 private:
  static constexpr std::size_t kMaxRemembered = 65536;

  Neighbours(std::uint32_t interface, Fd events, Fd queries)
      : interface_(interface), events_(std::move(events)), queries_(std::move(queries)) {}
  std::optional<Address> next_hop(const Address& to);
  std::optional<wire::MacAddress> look_up(const Address& hop);
  bool ask(const void* request, std::size_t size, char* answer, std::size_t room, std::size_t& got) const;
  void provoke(const Address& to) const;

  std::uint32_t interface_;
  Fd events_;
  Fd queries_;
  std::unordered_map<wire::IpAddress, std::optional<wire::MacAddress>>
      known_;  // nothing: the kernel is looking
};

/// The MAC address of an interface of ours.
Result<wire::MacAddress> mac_of(std::uint32_t interface);

}  // namespace mrc::port
