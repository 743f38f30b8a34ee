#include "port/direct_port.h"

#include <cerrno>

namespace mrc::port {

DirectPort::DirectPort(std::unique_ptr<Port> udp, const Ipv6Prefix& sid)
    : WrappedPort(std::move(udp)), sid_(sid), local_(inner().local()) {}

// MRC-PORT-010: the carrier is the destination; the packet's own checks keep speaking of the final addresses.
std::size_t DirectPort::tx(std::span<TxTrain> trains) {
  for (std::size_t i = 0; i < trains.size(); ++i) {
    TxTrain& train = trains[i];
    const TxTrain asked = train;
    // Without a carrier there is no way; the socket refuses what has an outer header, and discards it.
    if (train.outer != nullptr && train.outer_next == nullptr) {
      train.to = train.outer;
      train.outer = nullptr;
    } else {
      train.outer = train.outer != nullptr ? train.outer : train.to;
    }
    const std::size_t sent = WrappedPort::tx(trains.subspan(i, 1));
    train.to = asked.to;
    train.outer = asked.outer;
    if (sent == 0) return i;
  }
  return trains.size();
}

std::size_t DirectPort::rx(std::span<RxPacket> out) {
  std::size_t taken = 0;
  const std::size_t n = WrappedPort::rx(out);
  for (std::size_t i = 0; i < n; ++i) {
    Ipv6 to;
    to.bytes = out[i].to->ip;
    if (!sid_.contains(to)) {
      ++outside_;
      continue;
    }
    out[taken] = out[i];
    out[taken++].to = &local_;  // what the sender meant, and what its iCRC covers
  }
  return taken;
}

Capabilities DirectPort::capabilities() const {
  Capabilities c = WrappedPort::capabilities();
  c.outer_ip = true;
  return c;
}

const Counters& DirectPort::counters() const {
  counters_ = WrappedPort::counters();
  counters_.rx_outside = outside_;
  return counters_;
}

}  // namespace mrc::port
