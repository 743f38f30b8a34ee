#include "port/strays.h"

#include <sys/socket.h>

#include <cstring>

#include "port/local_socket.h"
#include "port/system_calls.h"

namespace mrc::port {
namespace {

/// Goes before the packet's bytes.
struct Label {
  Address from;
  Address to;
  std::uint32_t flow_label;
  std::uint16_t source_port;
  std::uint8_t tos;
  std::uint8_t answered;
  std::int64_t arrival_ns;
};
static_assert(sizeof(Label) == 56);

/// The sender's user, told by the kernel beside each letter.
bool from_trusted(msghdr& message) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender;
    std::memcpy(&sender, CMSG_DATA(c), sizeof sender);
    return is_trusted({sender.pid, sender.uid});
  }
  return false;
}

}  // namespace

struct Strays::Letter {
  Label label;
  std::byte bytes[65536];
};

Strays::Strays(Fd socket, Fd sending, std::vector<std::string> doors)
    : socket_(std::move(socket)),
      sending_(std::move(sending)),
      doors_(std::move(doors)),
      letters_(new Letter[kLetters]) {}

Result<Strays> Strays::open(const std::string& group, unsigned index, unsigned seats) {
  std::vector<std::string> doors;
  for (unsigned i = 0; i < seats; ++i) doors.push_back("openmrc/stray/" + std::to_string(i) + "/" + group);
  auto socket = bind_local_datagrams(doors[index]);
  if (!socket) return socket.error();
  auto sending = open_local_datagrams();
  if (!sending) return sending.error();
  const int on = 1;
  ::setsockopt(socket->get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  return Strays(std::move(*socket), std::move(*sending), std::move(doors));
}

bool Strays::give(const RxPacket& packet, unsigned index) {
  if (index >= doors_.size()) return false;
  Label label{.from = *packet.from,
              .to = *packet.to,
              .flow_label = packet.flow_label,
              .source_port = packet.source_port,
              .tos = packet.tos,
              .answered = packet.answered,
              .arrival_ns = packet.arrival_ns};
  const iovec pieces[] = {{&label, sizeof label}, {const_cast<std::byte*>(packet.data), packet.size}};
  return send_local_datagram(sending_.get(), doors_[index], pieces, 2);
}

std::size_t Strays::take(std::span<RxPacket> out) {
  std::size_t n = 0;
  while (n < out.size() && n < kLetters) {
    Letter& letter = letters_[n];
    iovec piece{&letter, sizeof letter};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t size = system_calls::recvmsg(socket_.get(), &message, MSG_DONTWAIT);
    if (size < 0) break;
    if (size < static_cast<ssize_t>(sizeof(Label)) || !from_trusted(message)) continue;
    out[n++] = {.data = letter.bytes,
                .size = static_cast<std::uint32_t>(static_cast<std::size_t>(size) - sizeof(Label)),
                .flow_label = letter.label.flow_label,
                .from = &letter.label.from,
                .to = &letter.label.to,
                .source_port = letter.label.source_port,
                .tos = letter.label.tos,
                .answered = letter.label.answered != 0,
                .arrival_ns = letter.label.arrival_ns};
  }
  return n;
}

}  // namespace mrc::port
