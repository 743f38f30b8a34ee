#include "port/send_sockets.h"

#include "port/udp_socket.h"

namespace mrc::port {

int SendSockets::open(std::uint16_t source_port) {
  // Port 0 would let the kernel choose: the packet would carry an EV that nobody picked.
  if (source_port == 0) return -EINVAL;
  auto socket = open_send_socket(options_.local, source_port, options_.interface, options_.flow_label);
  if (!socket) return -socket.error().code;
  auto& page = pages_[source_port >> 8];
  if (page == nullptr) page = std::make_unique<Page>();
  const bool full = order_.size() == options_.limit;
  if (full) make_room();
  if (full)
    order_[oldest_ == 0 ? order_.size() - 1 : oldest_ - 1] = source_port;
  else
    order_.push_back(source_port);
  Fd& place = (*page)[source_port & 0xFF];
  place = std::move(*socket);
  return place.get();
}

void SendSockets::make_room() {
  const std::uint16_t victim = order_[oldest_];
  (*pages_[victim >> 8])[victim & 0xFF].reset();
  oldest_ = (oldest_ + 1) % order_.size();
}

}  // namespace mrc::port
