// The unprivileged way onto the wire: kernel UDP sockets, trains by UDP_SEGMENT, coalescing by UDP_GRO, the
// EV as source port and flow label. Kernel encapsulation (routes with `encap seg6`) gives SRv6: the peer's
// alias picks the path.
#pragma once

#include <memory>
#include <string>

#include "port/link_watch.h"
#include "port/port.h"
#include "port/udp_inbox.h"
#include "port/udp_sender.h"

namespace mrc::port {

struct UdpPortOptions {
  Address local;                  // must be an address of this host; source of everything that we send
  std::uint16_t udp_port = 4791;  // wire::Settings::udp_port
  bool all_addresses =
      false;  // receive at every address of the host (aliases of SRv6 paths), not only `local`
  bool bind_interface = false;  // only by the interface that holds `local`: planes whose addresses overlap
  std::uint32_t source_port_limit = 1024;  // sockets for sending: one per EV in use
  std::uint32_t connected_limit = 256;     // and those for paths in steady use; a power of two
  std::uint32_t receive_buffer = 32u << 20;
  bool timestamps = false;  // fill RxPacket::arrival_ns
  bool doorbell = true;     // look for arrivals without a system call, where we may load programs,
  bool mailbox = true;      // and take them in without one, while attended
};

class UdpPort final : public Port {
 public:
  /// With a seat, the UDP port is shared with other processes and qpns() is this process's range; without one
  /// it is ours alone. All ports (planes) of a device take the same seat, because a QP has one number on all
  /// of them.
  static Result<std::unique_ptr<UdpPort>> open(const UdpPortOptions& options,
                                               std::shared_ptr<Seat> seat = nullptr);

  std::size_t tx(std::span<TxTrain> trains) override { return sender_.send(trains, counters_); }
  std::size_t rx(std::span<RxPacket> out) override { return inbox_.receive(out, counters_); }
  void attend() override { inbox_.attend(); }
  bool rest() override { return inbox_.rest(); }
  int wait_fd() const override { return inbox_.socket(); }
  int event_fd() const override { return inbox_.epoll(); }
  int tx_blocked_fd() const override { return sender_.blocked_fd(); }
  void service() override;
  std::optional<Link> poll_link_event() override { return watch_.poll_event(); }
  Link link() const override { return watch_.link(); }
  Address local() const override { return options_.local; }
  Capabilities capabilities() const override;
  QpnRange qpns() const override { return inbox_.qpns(); }
  const Counters& counters() const override { return counters_; }
  int prepare_source_port(std::uint16_t source_port) override { return sender_.prepare(source_port); }

 private:
  UdpPort(UdpPortOptions options, UdpInbox inbox, LinkWatch watch, UdpSender::Options sending);

  UdpPortOptions options_;
  UdpInbox inbox_;
  LinkWatch watch_;
  UdpSender sender_;
  Counters counters_;
};

}  // namespace mrc::port
