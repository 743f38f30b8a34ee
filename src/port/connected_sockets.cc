#include "port/connected_sockets.h"

#include <sys/socket.h>

#include <cstring>

#include "port/no_cancel.h"
#include "port/udp_socket.h"

namespace mrc::port {

std::size_t ConnectedSockets::hash_of(const TxTrain& train) {
  std::uint64_t low;
  std::memcpy(&low, train.to->ip.data() + 8, sizeof low);
  std::uint64_t h =
      low ^ std::uint64_t{train.flow_label} << 32 ^ std::uint64_t{train.source_port} << 8 ^ train.tos;
  h *= 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>(h >> 32);
}

int ConnectedSockets::wish(std::size_t hash, const TxTrain& train) {
  unsigned i = 0;
  while (!is_free(choice(hash, i), train))
    if (++i == kChoices) return -1;
  Lane& lane = choice(hash, i);
  lane.wished = calls_;
  if (!lane.wanted.is(train)) {
    lane.wanted = {*train.to, train.flow_label, train.source_port, train.tos};
    lane.wishes = 0;
  }
  if (++lane.wishes < kWorthOpening) return -1;
  lane.wishes = 0;
  auto socket = connect(train);
  if (!socket) {
    lanes_.clear();  // no descriptors left, or no permission: it won't get better, and trying costs
    return -1;
  }
  lane.fd = std::move(*socket);
  lane.open = lane.wanted;
  lane.used = calls_;
  ++opened_;
  return lane.fd.get();
}

Result<Fd> ConnectedSockets::connect(const TxTrain& train) const {
  const bool v4 = options_.local.is_v4();
  auto socket = open_send_socket(options_.local, train.source_port, options_.interface, !v4);
  if (!socket) return socket;
  const int tos = train.tos;
  const int set = v4 ? ::setsockopt(socket->get(), IPPROTO_IP, IP_TOS, &tos, sizeof tos)
                     : ::setsockopt(socket->get(), IPPROTO_IPV6, IPV6_TCLASS, &tos, sizeof tos);
  const SocketAddress peer = to_socket_address(*train.to, options_.udp_port, train.flow_label);
  const NoCancel whole;
  if (set < 0 || ::connect(socket->get(), &peer.any, peer.size) < 0)
    return errno_error("connect a UDP socket");
  return socket;
}

}  // namespace mrc::port
