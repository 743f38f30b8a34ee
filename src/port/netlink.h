// What ports ask and hear of the kernel's routing: sockets of rtnetlink, and the way through its messages.
#pragma once

#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "port/address.h"
#include "port/fd.h"

namespace mrc::port::netlink {

/// A socket of the caller's network namespace that hears these groups (RTMGRP_*); 0: none, for questions.
Result<Fd> open(std::uint32_t groups);

/// Sends a question and reads one piece of the answer; nothing when none came within a second. Also for each
/// further piece of a long answer, with an empty question.
std::span<const std::byte> ask(int socket, std::span<const std::byte> question, std::span<std::byte> room);

template <class Each>
void for_each_message(std::span<const std::byte> bytes, Each&& each) {
  auto left = static_cast<unsigned>(bytes.size());
  for (auto* m = reinterpret_cast<const nlmsghdr*>(bytes.data()); NLMSG_OK(m, left); m = NLMSG_NEXT(m, left))
    each(*m);
}

/// The attributes behind a message's fixed part. REQUIRES: the message is of the type that has this part.
template <class Body, class Each>
void for_each_attribute(const nlmsghdr& message, Each&& each) {
  if (message.nlmsg_len < NLMSG_LENGTH(sizeof(Body))) return;
  auto left = static_cast<unsigned>(NLMSG_PAYLOAD(&message, sizeof(Body)));
  const auto* first = static_cast<const char*>(NLMSG_DATA(&message)) + NLMSG_ALIGN(sizeof(Body));
  for (auto* a = reinterpret_cast<const rtattr*>(first); RTA_OK(a, left); a = RTA_NEXT(a, left))
    each(a->rta_type, std::span(static_cast<const std::byte*>(RTA_DATA(a)), RTA_PAYLOAD(a)));
}

/// An address as netlink has it: 4 or 16 bytes.
Address address_from(std::span<const std::byte> bytes);
std::span<const std::byte> bytes_of(const Address& address);

}  // namespace mrc::port::netlink
