#include "port/udp_port.h"

#include <net/if.h>
#include <sys/epoll.h>

#include "port/udp_socket.h"

namespace mrc::port {
namespace {

Status watch_input(int epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0) return errno_error("watch a socket");
  return Done{};
}

Address any_of_same_family(const Address& local) {
  return local.is_v4() ? *parse_address("0.0.0.0") : Address{};
}

ReceiveSocketOptions receiving(const UdpPortOptions& options, const std::string& interface) {
  return {.bind = options.all_addresses ? any_of_same_family(options.local) : options.local,
          .udp_port = options.udp_port,
          .interface = interface,
          .buffer = options.receive_buffer,
          .timestamps = options.timestamps,
          .doorbell = options.doorbell,
          .mailbox = options.mailbox};
}

}  // namespace

Result<std::unique_ptr<UdpPort>> UdpPort::open(const UdpPortOptions& options, std::shared_ptr<Seat> seat) {
  if (seat != nullptr && seat->udp_port() != options.udp_port)
    return Error{EINVAL,
                 "the seat is at UDP port " + std::to_string(seat->udp_port()) + ", the port at another"};
  const auto index = interface_of(options.local);
  if (!index) return index.error();
  char name[IF_NAMESIZE] = {};
  const std::string interface = options.bind_interface ? if_indextoname(*index, name) : "";
  auto watch = LinkWatch::open(*index);
  if (!watch) return watch.error();
  auto inbox = UdpInbox::open(receiving(options, interface), options.local, std::move(seat));
  if (!inbox) return inbox.error();
  if (auto watched = watch_input(inbox->epoll(), watch->fd()); !watched) return watched.error();
  UdpSender::Options sending{.sockets = {.local = options.local,
                                         .interface = interface,
                                         .flow_label = can_send_flow_label(options.local),
                                         .limit = options.source_port_limit},
                             .udp_port = options.udp_port,
                             .connected = options.connected_limit,
                             .own_socket = options.all_addresses ? -1 : inbox->socket()};
  return std::unique_ptr<UdpPort>(
      new UdpPort(options, std::move(*inbox), std::move(*watch), std::move(sending)));
}

UdpPort::UdpPort(UdpPortOptions options, UdpInbox inbox, LinkWatch watch, UdpSender::Options sending)
    : options_(std::move(options)),
      inbox_(std::move(inbox)),
      watch_(std::move(watch)),
      sender_(std::move(sending)) {}

/// One system call when there is nothing to do: callers that spin come here often.
void UdpPort::service() {
  epoll_event events[8];
  const int n = ::epoll_wait(inbox_.epoll(), events, 8, 0);
  for (int i = 0; i < n; ++i) {
    if (events[i].data.fd == watch_.fd())
      watch_.update();
    else
      inbox_.serve(events[i].data.fd);
  }
  inbox_.follow();
}

Capabilities UdpPort::capabilities() const {
  const std::uint32_t ip_and_udp = options_.local.is_v4() ? 20 + 8 : 8;  // what the 16-bit lengths also count
  return {.layer = Layer::datagram,
          .max_train = UdpSender::kMaxTrain,
          .max_train_bytes = 65535 - ip_and_udp,
          .max_pieces = UdpSender::kMaxPieces,
          .max_burst = UdpSender::kMaxBurst,
          .min_source_port = lowest_bindable_port(),
          .flow_label = sender_.flow_label(),
          .reserved_qpns = inbox_.takes_reserved_qpns(),
          .receive_buffer = receive_buffer_of(inbox_.socket()),
          .cheap_to_ask = inbox_.has_doorbell()};
}

}  // namespace mrc::port
