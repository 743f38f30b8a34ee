#include "port/neighbour_table.h"

#include <linux/neighbour.h>

#include <cstring>

namespace mrc::port {

void NeighbourTable::load(int socket) {
  struct {
    nlmsghdr header;
    ndmsg body;
  } question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = RTM_GETNEIGH;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  all_.clear();
  alignas(nlmsghdr) std::byte room[32768];
  bool more = true;
  for (auto answer = netlink::ask(socket, std::as_bytes(std::span(&question, 1)), room);
       !answer.empty() && more;
       answer = more ? netlink::ask(socket, {}, room) : std::span<const std::byte>{}) {
    netlink::for_each_message(answer, [&](const nlmsghdr& message) {
      if (message.nlmsg_type == NLMSG_DONE || message.nlmsg_type == NLMSG_ERROR) more = false;
      (void)handle(message);
    });
  }
}

std::optional<wire::IpAddress> NeighbourTable::handle(const nlmsghdr& message) {
  if (message.nlmsg_type != RTM_NEWNEIGH && message.nlmsg_type != RTM_DELNEIGH) return std::nullopt;
  const auto* about = static_cast<const ndmsg*>(NLMSG_DATA(&message));
  const bool ip = about->ndm_family == AF_INET || about->ndm_family == AF_INET6;
  if (!ip || static_cast<std::uint32_t>(about->ndm_ifindex) != interface_) return std::nullopt;
  wire::IpAddress who;
  Neighbour now{.mac = {}, .old = (about->ndm_state & NUD_STALE) != 0};
  netlink::for_each_attribute<ndmsg>(message, [&](unsigned short type, std::span<const std::byte> value) {
    if (type == NDA_DST) who.bytes = netlink::address_from(value).ip;
    if (type == NDA_LLADDR && value.size() == 6)
      std::memcpy(now.mac.emplace().bytes.data(), value.data(), value.size());
  });
  const bool failed = (about->ndm_state & NUD_FAILED) != 0;
  if (failed) now = {};
  if (message.nlmsg_type == RTM_DELNEIGH) return all_.erase(who), who;  // also one it was still looking for
  const bool changed = failed || now.mac ? note(who, now) : all_.erase(who) != 0;
  return changed ? std::optional(who) : std::nullopt;
}

/// Told again that nobody answers means that the kernel has stopped looking once more.
bool NeighbourTable::note(const wire::IpAddress& who, const Neighbour& now) {
  const auto [at, is_new] = all_.try_emplace(who, now);
  if (!is_new && at->second == now && now.mac) return false;
  at->second = now;
  return true;
}

const Neighbour* NeighbourTable::find(const wire::IpAddress& address) const {
  const auto found = all_.find(address);
  return found == all_.end() ? nullptr : &found->second;
}

}  // namespace mrc::port
