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
          .timestamps = options.timestamps};
}

}  // namespace

Result<std::unique_ptr<UdpPort>> UdpPort::open(const UdpPortOptions& options) {
  const auto index = interface_of(options.local);
  if (!index) return index.error();
  char name[IF_NAMESIZE] = {};
  const std::string interface = options.bind_interface ? if_indextoname(*index, name) : "";
  auto watch = LinkWatch::open(*index);
  if (!watch) return watch.error();
  auto socket = open_receive_socket(receiving(options, interface));
  if (!socket) return socket.error();
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return errno_error("open an epoll set");
  for (const int fd : {socket->get(), watch->fd()})
    if (auto watched = watch_input(epoll.get(), fd); !watched) return watched.error();
  UdpSender::Options sending{.sockets = {.local = options.local,
                                         .interface = interface,
                                         .flow_label = can_send_flow_label(options.local),
                                         .limit = options.source_port_limit},
                             .udp_port = options.udp_port,
                             .own_socket = options.all_addresses ? -1 : socket->get()};
  return std::unique_ptr<UdpPort>(
      new UdpPort(options, std::move(*socket), std::move(epoll), std::move(*watch), std::move(sending)));
}

UdpPort::UdpPort(UdpPortOptions options, Fd socket, Fd epoll, LinkWatch watch, UdpSender::Options sending)
    : options_(std::move(options)),
      socket_(std::move(socket)),
      epoll_(std::move(epoll)),
      watch_(std::move(watch)),
      sender_(std::move(sending)),
      receiver_(options_.local) {}

void UdpPort::service() { watch_.update(); }

Capabilities UdpPort::capabilities() const {
  const std::uint32_t ip_and_udp = options_.local.is_v4() ? 20 + 8 : 8;  // what the 16-bit lengths also count
  return {.layer = Layer::datagram,
          .max_train = UdpSender::kMaxTrain,
          .max_train_bytes = 65535 - ip_and_udp,
          .max_pieces = UdpSender::kMaxPieces,
          .max_burst = UdpSender::kMaxBurst,
          .min_source_port = lowest_bindable_port(),
          .flow_label = sender_.flow_label(),
          .reserved_qpns = true,
          .receive_buffer = receive_buffer_of(socket_.get())};
}

}  // namespace mrc::port
