#include "map/inbox.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>

namespace mrc::map {
namespace {

constexpr int kBatch = 32;
constexpr std::size_t kRoom = 128;  // a probe is smaller; what is larger is none
constexpr int kMaxBatches = 64;     // a flood must not keep the mapper from its clock

struct Slot {
  std::array<std::uint8_t, kRoom> bytes;
  sockaddr_in6 from;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(timespec))> control;
  iovec piece;
};

Duration since(const timespec& then) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return Duration((now.tv_sec - then.tv_sec) * 1'000'000'000LL + (now.tv_nsec - then.tv_nsec));
}

Duration age(msghdr& message) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_TIMESTAMPNS) continue;
    timespec stamp;
    std::memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
    return std::max(Duration(0), since(stamp));
  }
  return Duration(0);
}

void prepare(Slot& slot, mmsghdr& message) {
  slot.piece = {slot.bytes.data(), slot.bytes.size()};
  message = {};
  message.msg_hdr.msg_name = &slot.from;
  message.msg_hdr.msg_namelen = sizeof slot.from;
  message.msg_hdr.msg_iov = &slot.piece;
  message.msg_hdr.msg_iovlen = 1;
  message.msg_hdr.msg_control = slot.control.data();
  message.msg_hdr.msg_controllen = slot.control.size();
}

}  // namespace

Result<port::Fd> open_inbox(std::uint16_t udp_port) {
  port::Fd fd(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return port::errno_error("open a UDP socket");
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_port = htons(udp_port);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    return port::errno_error("bind UDP port " + std::to_string(udp_port) +
                             " (does a mapper run on this host already?)");
  return fd;
}

void drain(int fd, const std::function<void(const Arrived&)>& take) {
  static thread_local std::array<Slot, kBatch> slots;
  std::array<mmsghdr, kBatch> messages;
  for (int batch = 0; batch < kMaxBatches; ++batch) {
    for (int i = 0; i < kBatch; ++i) prepare(slots[i], messages[i]);
    const int n = ::recvmmsg(fd, messages.data(), kBatch, MSG_DONTWAIT, nullptr);
    for (int i = 0; i < n; ++i) {
      Arrived a;
      const bool whole = (messages[i].msg_hdr.msg_flags & MSG_TRUNC) == 0;
      a.bytes = wire::Bytes(slots[i].bytes.data(), whole ? messages[i].msg_len : 0);
      std::memcpy(a.from.bytes.data(), &slots[i].from.sin6_addr, 16);
      a.ago = age(messages[i].msg_hdr);
      take(a);
    }
    if (n < kBatch) return;
  }
}

}  // namespace mrc::map
