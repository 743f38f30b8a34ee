#include "port/udp_receiver.h"

#include <netinet/in.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "port/system_calls.h"
#include "port/udp_socket.h"
#include "wire/bytes.h"

namespace mrc::port {
namespace {

// A power of two apart, all messages would fall on the same cache sets.
constexpr std::size_t kStride = UdpReceiver::kMaxMessageBytes + 1024 + 64;

template <class T>
T value_of(const cmsghdr& control) {
  T value;
  std::memcpy(&value, CMSG_DATA(&control), sizeof value);
  return value;
}

}  // namespace

/// What the headers around one message tell.
struct UdpReceiver::About {
  Address from;
  Address to;
  std::uint32_t flow_label = 0;
  std::int64_t arrival_ns = 0;
  std::uint16_t source_port = 0;
  std::uint8_t tos = 0;

  void read_v4(const cmsghdr& control);
  void read_v6(const cmsghdr& control);
  void read(const Mailbox::Slot& slot, const Address& local);
};

void UdpReceiver::About::read_v4(const cmsghdr& control) {
  if (control.cmsg_type == IP_TOS) tos = value_of<std::uint8_t>(control);
  if (control.cmsg_type != IP_PKTINFO) return;
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr = value_of<in_pktinfo>(control).ipi_addr;
  to = from_socket_address(reinterpret_cast<const sockaddr&>(name));
}

void UdpReceiver::About::read_v6(const cmsghdr& control) {
  if (control.cmsg_type == kIpv6FlowInfo) {
    const std::uint32_t info = ntohl(value_of<std::uint32_t>(control));
    flow_label = info & 0xFFFFF;
    tos = static_cast<std::uint8_t>(info >> 20);
  } else if (control.cmsg_type == IPV6_PKTINFO) {
    const auto info = value_of<in6_pktinfo>(control);
    std::memcpy(to.ip.data(), &info.ipi6_addr, 16);
    to.scope = IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr) ? info.ipi6_ifindex : 0;
  }
}

/// The mailbox has whole headers. A message's source is a host's own address, so it is local to a link where
/// its destination is.
void UdpReceiver::About::read(const Mailbox::Slot& slot, const Address& local) {
  source_port = static_cast<std::uint16_t>(slot.udp[0] << 8 | slot.udp[1]);
  from = to = local;  // an IPv4 address in its mapped form keeps all but its last bytes
  if (local.is_v4()) {
    tos = slot.ip[1];
    std::memcpy(from.ip.data() + 12, slot.ip + 12, 4);
    std::memcpy(to.ip.data() + 12, slot.ip + 16, 4);
    return;
  }
  const std::uint32_t info = wire::load32(slot.ip);
  flow_label = info & 0xFFFFF;
  tos = static_cast<std::uint8_t>(info >> 20);
  std::memcpy(from.ip.data(), slot.ip + 8, 16);
  std::memcpy(to.ip.data(), slot.ip + 24, 16);
  const auto scope = [&](const Address& a) {
    return a.ip[0] == 0xFE && (a.ip[1] & 0xC0) == 0x80 ? slot.interface : 0;
  };
  from.scope = scope(from);
  to.scope = scope(to);
}

namespace {

std::int64_t nanoseconds(const timespec& at) { return std::int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec; }

constexpr std::size_t kControlSpace =
    CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(timespec)) + 4 * CMSG_SPACE(sizeof(int));

}  // namespace

/// A short message, while its packets are looked at.
struct UdpReceiver::Mail {
  About about;
  const std::uint8_t* payload;
  std::uint32_t left;
  std::uint32_t packet_bytes;
};

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
  if (!mailbox) return;
  mailbox_.emplace(doorway);
  mail_.reset(new Mail[DoorwayMemory::kSlots]);
}

std::size_t UdpReceiver::receive(int fd, std::span<RxPacket> out, Counters& counters) {
  if (const std::size_t n = receive_at_hand(out, counters); n != 0) return n;
  // What rang and can't be read was dropped, and mail must not wait for it.
  if (current_ == available_ && !refill(fd, counters)) return receive_mail(Order::any, out, counters);
  std::size_t n = 0;
  while (n < out.size() && current_ < available_) n += split(out.subspan(n));
  counters.rx_packets += n;
  for (const RxPacket& packet : out.first(n)) counters.rx_bytes += packet.size;
  return n;
}

std::size_t UdpReceiver::receive_at_hand(std::span<RxPacket> out, Counters& counters) {
  return current_ == available_ ? receive_mail(Order::kept, out, counters) : 0;
}

std::size_t UdpReceiver::receive_mail(Order order, std::span<RxPacket> out, Counters& counters) {
  if (!mailbox_) return 0;
  if (open_mail_ == nullptr) mailbox_->give_back();
  std::size_t n = 0;
  while (n < out.size() && (open_mail_ != nullptr || open_mail(order))) {
    Mail& mail = *open_mail_;
    const std::uint32_t size = std::min(mail.packet_bytes, mail.left);
    out[n++] = packet_of(mail.about, mail.payload, size);
    mail.payload += size;
    mail.left -= size;
    if (mail.left == 0) open_mail_ = nullptr;
    counters.rx_bytes += size;
  }
  counters.rx_packets += n;
  return n;
}

/// False: there is none.
bool UdpReceiver::open_mail(Order order) {
  constexpr std::uint32_t kUdpHeader = 8;
  const Mailbox::Slot* slot = mailbox_->front();
  while (slot != nullptr && slot->size <= kUdpHeader) {  // it went to the socket after all
    mailbox_->take();
    slot = mailbox_->front();
  }
  if (slot == nullptr || (order == Order::kept && !bell_->has_taken(slot->after))) return false;
  mailbox_->take();
  Mail& mail = *(open_mail_ = &mail_[mail_opened_++ % DoorwayMemory::kSlots]);
  mail.about = About{};
  mail.about.read(*slot, local_);
  mail.payload = slot->udp + kUdpHeader;
  mail.left = slot->size - kUdpHeader;
  mail.packet_bytes = slot->packet_bytes != 0 ? slot->packet_bytes : mail.left;
  return true;
}

std::optional<std::uint64_t> UdpReceiver::waiting_bytes() {
  if (!bell_ || current_ < available_) return std::nullopt;
  return std::uint64_t{bell_->waiting()} * headers_[0].msg_len;
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
  if (bell_) {
    const std::uint32_t waiting = bell_->waiting();
    if (waiting == 0) return 0;
    batch_ = std::min(waiting, most_at_once());
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
  message.about = About{};
  message.about.from = from_socket_address(message.socket_address.any);
  message.about.to = local_;
  // sin_port and sin6_port are the same two bytes.
  message.about.source_port = ntohs(message.socket_address.v4.sin_port);
  message.size = headers_[i].msg_len;
  message.packet_bytes = message.size;
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    if (c->cmsg_level == IPPROTO_IP) message.about.read_v4(*c);
    if (c->cmsg_level == IPPROTO_IPV6) message.about.read_v6(*c);
    if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO)
      message.packet_bytes = static_cast<std::uint32_t>(value_of<int>(*c));
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type == SO_TIMESTAMPNS) message.about.arrival_ns = nanoseconds(value_of<timespec>(*c));
    if (c->cmsg_type == SO_RXQ_OVFL) note_overruns(value_of<std::uint32_t>(*c), counters);
  }
}

/// `dropped` counts what the mailbox took as well, up to when this message came. More may have come there
/// since: then we hear of an overrun with a later message.
void UdpReceiver::note_overruns(std::uint32_t dropped, Counters& counters) {
  const std::uint32_t mail = mailbox_ ? static_cast<std::uint32_t>(mailbox_->ever()) : 0;
  const std::uint32_t more = dropped - mail - overruns_;
  if (static_cast<std::int32_t>(more) <= 0) return;
  counters.rx_overrun += more;
  overruns_ += more;
}

RxPacket UdpReceiver::packet_of(const About& about, const void* data, std::uint32_t size) {
  return {.data = static_cast<const std::byte*>(data),
          .size = size,
          .flow_label = about.flow_label,
          .from = &about.from,
          .to = &about.to,
          .source_port = about.source_port,
          .tos = about.tos,
          .arrival_ns = about.arrival_ns};
}

/// Views of the current message's packets, as many as fit; moves on when it is used up.
std::size_t UdpReceiver::split(std::span<RxPacket> out) {
  const Message& m = messages_[current_];
  const auto* bytes = static_cast<const std::byte*>(m.bytes.iov_base);
  std::size_t n = 0;
  do {
    const std::uint32_t size = std::min(m.packet_bytes, m.size - offset_);
    out[n++] = packet_of(m.about, bytes + offset_, size);
    offset_ += size;
  } while (n < out.size() && offset_ < m.size);
  if (offset_ >= m.size) {
    ++current_;
    offset_ = 0;
  }
  return n;
}

}  // namespace mrc::port
