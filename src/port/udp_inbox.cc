#include "port/udp_inbox.h"

#include <sys/epoll.h>

namespace mrc::port {

Result<UdpInbox> UdpInbox::open(const ReceiveSocketOptions& options, const Address& local,
                                std::shared_ptr<Seat> seat) {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return errno_error("open an epoll set");
  UdpInbox inbox(std::move(epoll), local);
  inbox.seat_ = std::move(seat);
  const auto opened = inbox.seat_ == nullptr ? inbox.open_alone(options) : inbox.open_shared(options, local);
  if (!opened) return opened.error();
  inbox.build_doorway(options);
  inbox.receiver_.forget_overruns(inbox.socket_);
  return inbox;
}

/// Without the right to have one, every look is a system call.
void UdpInbox::build_doorway(const ReceiveSocketOptions& options) {
  if (!options.doorbell) return;
  // Nothing in the mailbox tells when it came.
  if (auto doorway = port::build_doorway(socket_))
    receiver_.use(*doorway, options.mailbox && !options.timestamps);
}

void UdpInbox::watch(int fd) const {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

Status UdpInbox::open_alone(const ReceiveSocketOptions& options) {
  auto socket = open_receive_socket(options);
  if (!socket) return socket.error();
  own_ = std::move(*socket);
  socket_ = own_.get();
  return Done{};
}

Status UdpInbox::open_shared(const ReceiveSocketOptions& options, const Address& local) {
  auto group = seat_->group(options);
  if (!group) return group.error();
  const std::string name =
      std::to_string(options.udp_port) + "/" + to_string(options.bind) + "/" + options.interface;
  auto strays = Strays::open(name, seat_->index(), seat_->steering().seats);
  if (!strays) return strays.error();
  group_ = *group;
  socket_ = (*group)->sockets[seat_->index()].get();
  endpoint_socket_ = (*group)->sockets[seat_->steering().endpoint_index()].get();
  strays_.emplace(std::move(*strays));
  for (const int fd : {seat_->fd(), strays_->fd()}) watch(fd);
  endpoint_receiver_.emplace(local);
  endpoint_receiver_->forget_overruns(endpoint_socket_);
  follow_endpoint();
  return Done{};
}

/// Reads the endpoint's place exactly while this process holds the endpoint.
void UdpInbox::follow_endpoint() {
  if (seat_->holds_endpoint(*group_, reading_endpoint_) == reading_endpoint_) return;
  reading_endpoint_ = !reading_endpoint_;
  if (reading_endpoint_)
    watch(endpoint_socket_);
  else
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, endpoint_socket_, nullptr);
}

void UdpInbox::follow() {
  if (seat_ != nullptr) follow_endpoint();
}

void UdpInbox::serve(int fd) {
  if (seat_ == nullptr) return;
  if (fd == seat_->fd()) seat_->serve();
  rare_ready_ = rare_ready_ || fd == strays_->fd() || fd == endpoint_socket_;
}

std::size_t UdpInbox::receive(std::span<RxPacket> out, Counters& counters) {
  if (seat_ == nullptr) return receiver_.receive(socket_, out, counters);
  for (;;) {
    const std::size_t n = receiver_.receive(socket_, out, counters);
    if (n == 0) return rare_ready_ ? receive_rare(out, counters) : 0;
    if (const std::size_t ours = keep_ours(out.first(n), counters); ours != 0) return ours;
  }
}

std::size_t UdpInbox::receive_rare(std::span<RxPacket> out, Counters& counters) {
  std::size_t n = strays_->take(out);
  counters.rx_packets += n;
  for (RxPacket& packet : out.first(n)) {
    counters.rx_bytes += packet.size;
    packet.overheard = seat_->steering().index_of(packet.data, packet.size) ==
                       static_cast<int>(seat_->steering().endpoint_index());
  }
  if (reading_endpoint_ && n < out.size()) {
    const std::size_t more = endpoint_receiver_->receive(endpoint_socket_, out.subspan(n), counters);
    copy_to_all(out.subspan(n, more));
    n += more;
  }
  rare_ready_ = n != 0;
  return n;
}

/// MRC-NODE-007: which ports of a peer are up concerns every process with QPs to it.
void UdpInbox::copy_to_all(std::span<const RxPacket> packets) {
  for (const RxPacket& packet : packets) {
    if (!Steering::concerns_all(packet.data, packet.size)) continue;
    RxPacket copy = packet;
    copy.answered = seat_->answers_everybody();
    for (unsigned seat = 0; seat < seat_->steering().seats; ++seat) {
      if (seat != seat_->index()) strays_->give(copy, seat);
    }
  }
}

/// Squeezes other processes' packets out of the burst and sends them on their way.
std::size_t UdpInbox::keep_ours(std::span<RxPacket> packets, Counters& counters) {
  const int mine = static_cast<int>(seat_->index());
  std::size_t kept = 0;
  for (RxPacket& packet : packets) {
    const int index = seat_->steering().index_of(packet.data, packet.size);
    const bool ours = index == mine || index < 0 ||
                      (reading_endpoint_ && index == static_cast<int>(seat_->steering().endpoint_index()));
    if (ours) {
      packets[kept++] = packet;
      continue;
    }
    ++counters.rx_stray;
    --counters.rx_packets;
    counters.rx_bytes -= packet.size;
    strays_->give(packet, static_cast<unsigned>(index));
  }
  return kept;
}

}  // namespace mrc::port
