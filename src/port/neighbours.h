// What the Ethernet header of a frame to an IP address says: the next hop on the kernel's routes, its MAC,
// and our own.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "port/address.h"
#include "port/fd.h"
#include "port/neighbour_table.h"
#include "wire/address.h"

namespace mrc::port {

struct NextHop {
  // 0, and this is its MAC. EAGAIN: the kernel is looking for it. EHOSTUNREACH: no route by this interface,
  // or nobody answers there; as long as somebody asks here, the kernel goes on looking.
  int error = 0;
  wire::MacAddress mac;
};

class Neighbours {
 public:
  /// Next hops by this interface to addresses of one family, in the caller's network namespace.
  static Result<Neighbours> open(std::uint32_t interface, bool v4);
  /// Another interface takes its place.
  void move_to(std::uint32_t interface);

  NextHop find(const Address& to);
  const wire::MacAddress& own_mac() const { return own_mac_; }
  /// Readable when there is news.
  int fd() const { return events_.get(); }
  /// Takes the news; true when a later find() may say something else.
  bool update();

 private:
  static constexpr std::size_t kMaxRemembered = 65536;
  struct Known {
    std::optional<Address> hop;  // nothing: no route
    NextHop next;
    bool current = false;
  };

  Neighbours(std::uint32_t interface, Fd events, Fd questions, Fd knocking)
      : interface_(interface),
        events_(std::move(events)),
        questions_(std::move(questions)),
        knocking_(std::move(knocking)),
        table_(interface) {}
  void ask_own_mac();
  bool handle(const nlmsghdr& message);
  bool note_own_mac(const nlmsghdr& message);
  std::optional<Address> route(const Address& to) const;
  std::optional<Address> route_by(const Address& to, std::uint32_t interface, std::uint32_t& by) const;
  NextHop reach(const Address& hop) const;
  bool provoke(const Address& hop) const;

  std::uint32_t interface_;
  wire::MacAddress own_mac_;
  Fd events_;
  Fd questions_;
  Fd knocking_;
  NeighbourTable table_;
  std::unordered_map<wire::IpAddress, Known> known_;
};

/// The MAC address of an interface of ours.
Result<wire::MacAddress> mac_of(std::uint32_t interface);

}  // namespace mrc::port
