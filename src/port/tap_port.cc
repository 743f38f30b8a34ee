#include "port/tap_port.h"

#include "port/pieces.h"

namespace mrc::port {

/// Shown after it was sent, so that nothing is shown twice when the port was full; the bytes are still the
/// caller's.
std::size_t TapPort::tx(std::span<TxTrain> trains) {
  const std::size_t n = WrappedPort::tx(trains);
  for (const TxTrain& train : trains.first(n))
    if (train.error == 0) show_train(train);
  return n;
}

void TapPort::show_train(const TxTrain& train) {
  Sighting seen{.outgoing = true,
                .from = local(),
                .to = train.to != nullptr ? *train.to : Address{},
                .outer = train.outer,
                .outer_next = train.outer_next,
                .source_port = train.source_port,
                .flow_label = train.flow_label,
                .tos = train.tos};
  iovec pieces[64];
  PacketCutter cutter(train);
  for (std::uint16_t i = 0; i < train.packets; ++i) {
    seen.pieces = {pieces, cutter.next(pieces)};
    seen.size = 0;
    for (const iovec& piece : seen.pieces) seen.size += piece.iov_len;
    if (seen.size != 0) see(seen);
  }
}

std::size_t TapPort::rx(std::span<RxPacket> out) {
  const std::size_t n = WrappedPort::rx(out);
  for (const RxPacket& packet : out.first(n)) {
    const iovec whole{const_cast<std::byte*>(packet.data), packet.size};
    see({.outgoing = false,
         .pieces = {&whole, 1},
         .size = packet.size,
         .from = packet.from != nullptr ? *packet.from : Address{},
         .to = packet.to != nullptr ? *packet.to : Address{},
         .source_port = packet.source_port,
         .flow_label = packet.flow_label,
         .tos = packet.tos});
  }
  return n;
}

}  // namespace mrc::port
