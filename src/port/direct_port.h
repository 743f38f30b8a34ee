// Direct uSID addressing, for labs: no outer header, the datagram itself is sent to the uSID carrier, and
// arrives at the receiver's segment id. Wraps a UdpPort that receives at all addresses.
//
// The address changes on the way and the UDP checksum covers it, so this works where nobody checks: over
// virtual cables, on which the kernel leaves checksums to a device that never computes them.
#pragma once

#include "base/ipv6.h"
#include "port/wrapped_port.h"

namespace mrc::port {

class DirectPort final : public WrappedPort {
 public:
  /// `sid`: what the host's kernel takes for its own (the lab's direct mode); everything else is refused.
  DirectPort(std::unique_ptr<Port> udp, const Ipv6Prefix& sid);

  /// Trains without a carrier (TxTrain::outer), or with two, are discarded: EINVAL.
  std::size_t tx(std::span<TxTrain> trains) override;
  std::size_t rx(std::span<RxPacket> out) override;
  Capabilities capabilities() const override;
  const Counters& counters() const override;

 private:
  Ipv6Prefix sid_;
  Address local_;
  std::uint64_t outside_ = 0;
  mutable Counters counters_;
};

}  // namespace mrc::port
