// The state of one network interface, told by the kernel (rtnetlink) the moment it changes. An interface that
// was deleted is down, and the next one of its name takes its place, under another index. No privileges
// needed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "port/fd.h"
#include "port/netlink.h"
#include "port/port.h"

namespace mrc::port {

class LinkWatch {
 public:
  /// Watches the interface with this index in the caller's network namespace.
  static Result<LinkWatch> open(std::uint32_t interface);

  int fd() const { return socket_.get(); }
  const Link& link() const { return link_; }
  /// Up beyond doubt: right after it was made, an interface calls itself up and still drops what it is given.
  /// Never true for interfaces that don't say (loopback).
  bool settled() const;
  /// Reads what the kernel has said since; true when the link is different now.
  bool update();
  /// The state after the last change, once.
  std::optional<Link> poll_event();

 private:
  LinkWatch(Fd socket, std::uint32_t interface) : socket_(std::move(socket)) { link_.interface = interface; }
  Status ask() const;
  bool await_first_answer();
  void handle(std::span<const std::byte> messages);
  void take(const nlmsghdr& message);
  void lose();

  Fd socket_;
  Link link_;
  std::string name_;
  bool gone_ = false;
  std::uint8_t operational_state_ = 0;
  bool changed_ = false;
};

/// The interface that holds a local address; ENODEV when none does.
Result<std::uint32_t> interface_of(const Address& local);
Result<std::uint32_t> interface_named(const std::string& name);

}  // namespace mrc::port
