#include "port/udp_receiver.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "port/system_calls.h"
#include "port/udp_socket.h"

namespace mrc::port {
namespace {

// A power of two apart, all messages would fall on the same cache sets.
constexpr std::size_t kStride = UdpReceiver::kMaxMessageBytes + 1024 + 64;

constexpr std::size_t kControlSpace =
    CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(timespec)) + 4 * CMSG_SPACE(sizeof(int));

}  // namespace

struct UdpReceiver::Message {
  SocketAddress socket_address;
  About about;
  iovec bytes;
  std::uint32_t size;
  std::uint32_t packet_bytes;
  alignas(cmsghdr) char control[kControlSpace];
};

UdpReceiver::UdpReceiver(const Address& local)
    : local_(local),
      storage_(new std::byte[kStride * kMaxMessages]),
      messages_(new Message[kMaxMessages]()),
      headers_(new mmsghdr[kMaxMessages]()) {
  for (std::size_t i = 0; i < kMaxMessages; ++i) {
    messages_[i].bytes = {storage_.get() + i * kStride, kMaxMessageBytes};
    headers_[i].msg_hdr.msg_name = &messages_[i].socket_address.any;
    headers_[i].msg_hdr.msg_control = messages_[i].control;
    headers_[i].msg_hdr.msg_iov = &messages_[i].bytes;
    headers_[i].msg_hdr.msg_iovlen = 1;
    rearm(i);
  }
}

UdpReceiver::UdpReceiver(UdpReceiver&&) noexcept = default;
UdpReceiver::~UdpReceiver() = default;

/// The kernel overwrites lengths with what it used: put back what there is.
void UdpReceiver::rearm(std::size_t i) {
  headers_[i].msg_hdr.msg_namelen = sizeof(sockaddr_in6);
  headers_[i].msg_hdr.msg_controllen = kControlSpace;
}

void UdpReceiver::use(const SharedDoorway& doorway, bool mailbox) {
  bell_.emplace(doorway);
  if (mailbox) mail_.emplace(doorway, local_);
}

void UdpReceiver::forget_overruns(int fd) { overruns_ = drops_of(fd); }

std::size_t UdpReceiver::receive(int fd, std::span<RxPacket> out, Counters& counters) {
  if (current_ == available_) {
    const std::uint32_t taken = bell_ ? bell_->taken() : 0;
    if (const std::size_t n = receive_mail(taken, out, counters); n != 0) return n;
    if (!refill(fd, counters)) return receive_stuck_mail(out, counters);
    batch_begins_ = taken;
  }
  if (batch_begins_) {  // mail may have come just before what was just read
    if (const std::size_t n = receive_mail(*batch_begins_, out, counters); n != 0) return n;
    if (mail_ && mail_->is_blind()) return 0;
    batch_begins_.reset();
  }
  std::size_t n = 0;
  while (n < out.size() && current_ < available_) n += split(out.subspan(n));
  counters.rx_packets += n;
  for (const RxPacket& packet : out.first(n)) counters.rx_bytes += packet.size;
  return n;
}

std::size_t UdpReceiver::receive_mail(std::uint32_t taken, std::span<RxPacket> out, Counters& counters) {
  return mail_ ? mail_->read(taken, out, counters) : 0;
}

/// Mail that was there when the socket had nothing of what came before it: that was dropped.
std::size_t UdpReceiver::receive_stuck_mail(std::span<RxPacket> out, Counters& counters) {
  return before_mail_ ? mail_->read(bell_->taken() + *before_mail_, out, counters) : 0;
}

bool UdpReceiver::refill(int fd, Counters& counters) {
  for (std::uint32_t i = 0; i < available_; ++i) rearm(i);
  available_ = current_ = offset_ = 0;
  const int got = read(fd);
  if (got <= 0) {
    batch_ = 1;
    full_before_ = false;
    return false;
  }
  available_ = static_cast<std::uint32_t>(got);
  adapt(available_ == batch_);
  for (std::uint32_t i = 0; i < available_; ++i) open_message(i, counters);
  return true;
}

int UdpReceiver::read(int fd) {
  before_mail_.reset();
  if (bell_) {
    const std::uint32_t waiting = bell_->waiting();
    if (waiting == 0) return 0;
    batch_ = std::min(waiting, most_at_once());
    if (mail_ && mail_->is_blind()) return 0;
    if (mail_) before_mail_ = mail_->before_next(bell_->taken());
    if (before_mail_ == 0u) return 0;  // it has just come
    if (before_mail_) batch_ = std::min(batch_, *before_mail_);
  }
  const int got =
      batch_ == 1 ? receive_one(fd) : system_calls::recvmmsg(fd, headers_.get(), batch_, MSG_DONTWAIT);
  if (bell_) got > 0 ? bell_->took(static_cast<std::uint32_t>(got)) : bell_->took_nothing();
  return got;
}

/// The call for several costs more, and a quiet socket is asked often.
int UdpReceiver::receive_one(int fd) {
  const ssize_t size = system_calls::recvmsg(fd, &headers_[0].msg_hdr, MSG_DONTWAIT);
  if (size < 0) return -1;
  headers_[0].msg_len = static_cast<unsigned>(size);
  return 1;
}

/// As many as fit in the cache together, when they are as long as the last one.
std::uint32_t UdpReceiver::most_at_once() const {
  constexpr std::uint32_t kHotBytes = 128 * 1024;
  return std::clamp(kHotBytes / std::max(headers_[0].msg_len, 1u), 1u, kMaxMessages);
}

/// Without a bell: asks for more messages at a time while reads come back full. A quiet socket is asked for
/// one: asking for a second in vain would delay the first.
void UdpReceiver::adapt(bool full) {
  const std::uint32_t most = most_at_once();
  if (!full) batch_ = available_;
  if (full && full_before_) batch_ *= 2;
  batch_ = std::min(batch_, most);
  full_before_ = full && !full_before_;
}

void UdpReceiver::open_message(std::size_t i, Counters& counters) {
  Message& message = messages_[i];
  msghdr& header = headers_[i].msg_hdr;
  message.about = {.from = from_socket_address(message.socket_address.any), .to = local_};
  // sin_port and sin6_port are the same two bytes.
  message.about.source_port = ntohs(message.socket_address.v4.sin_port);
  message.size = headers_[i].msg_len;
  message.packet_bytes = message.size;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    message.about.read(*c);
    if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
      message.packet_bytes = static_cast<std::uint32_t>(value_of<int>(*c));
    if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL)
      note_overruns(value_of<std::uint32_t>(*c), counters);
  }
}

/// `dropped` counts what the mailbox took as well, up to when this message came. More may have come there
/// since: then we hear of an overrun with a later message. Mail that came behind what was dropped waits for
/// it no longer.
void UdpReceiver::note_overruns(std::uint32_t dropped, Counters& counters) {
  const std::uint32_t mail = mail_ ? static_cast<std::uint32_t>(mail_->box().ever()) : 0;
  const std::uint32_t more = dropped - mail - overruns_;
  if (static_cast<std::int32_t>(more) <= 0) return;
  counters.rx_overrun += more;
  overruns_ += more;
  if (bell_) bell_->took(more);
}

/// Views of the current message's packets, as many as fit; moves on when it is used up.
std::size_t UdpReceiver::split(std::span<RxPacket> out) {
  const Message& m = messages_[current_];
  const auto* bytes = static_cast<const std::byte*>(m.bytes.iov_base);
  std::size_t n = 0;
  do {
    const std::uint32_t size = std::min(m.packet_bytes, m.size - offset_);
    out[n++] = m.about.packet(bytes + offset_, size);
    offset_ += size;
  } while (n < out.size() && offset_ < m.size);
  if (offset_ >= m.size) {
    ++current_;
    offset_ = 0;
  }
  return n;
}

}  // namespace mrc::port
