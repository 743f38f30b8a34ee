// Datagrams over a port of whole frames: writes Ethernet, IP and UDP headers, and an outer IPv6 header for
// SRv6, itself. So a NIC runs over a packet socket or AF_XDP as it does over UDP sockets, with any source
// port, any flow label and the specified encapsulation; it needs the privileges of the port below.
#pragma once

#include <memory>
#include <optional>

#include "base/ipv6.h"
#include "port/held_packets.h"
#include "port/neighbours.h"
#include "port/port.h"

namespace mrc::port {

struct FramedPortOptions {
  Address local;  // must be an address of the interface below
  std::uint16_t udp_port = 4791;
  std::uint8_t hop_limit = 64;
  bool udp6_checksum = true;     // IPv4 has none (0); over IPv6 receivers want one
  bool any_destination = false;  // also take packets to addresses other than `local` (aliases)

  // SRv6 guards; where they are not set everything passes.
  std::optional<Ipv6Prefix> sid;     // ours: packets must have come by it, in an outer header
  std::optional<Ipv6Prefix> fabric;  // of all NICs: packets must say that they come from one of them
};

struct FrameContent;

class FramedPort final : public Port {
 public:
  /// Packets whose next hop the kernel has yet to find wait for that, as in its own sockets; when nobody
  /// answers they count as discarded, and further ones end with EHOSTUNREACH until somebody does.
  ///
  /// Keeps the packets that it takes from the kernel's own stack, where it may (CAP_BPF): that saves their
  /// way through it. Also keeps a UDP socket at `local` that takes nothing, so that the kernel doesn't call
  /// the port unreachable.
  static Result<std::unique_ptr<FramedPort>> open(std::unique_ptr<Port> frames,
                                                  const FramedPortOptions& options);
  ~FramedPort() override;

  std::size_t tx(std::span<TxTrain> trains) override;
  std::size_t rx(std::span<RxPacket> out) override;
  int wait_fd() const override { return frames_->wait_fd(); }
  int event_fd() const override { return epoll_.get(); }
  int tx_blocked_fd() const override { return frames_->tx_blocked_fd(); }
  void service() override;
  std::optional<Link> poll_link_event() override { return frames_->poll_link_event(); }
  Link link() const override { return frames_->link(); }
  Address local() const override { return options_.local; }
  Capabilities capabilities() const override;
  QpnRange qpns() const override { return frames_->qpns(); }
  const Counters& counters() const override { return counters_; }

 private:
  static constexpr std::uint32_t kMaxBurst = 64;
  static constexpr std::uint32_t kMaxPieces = 12;  // of one packet

  struct Storage;

  FramedPort(std::unique_ptr<Port> frames, const FramedPortOptions& options, Neighbours neighbours, Fd decoy,
             Fd shield, Fd epoll);
  void move_to(std::uint32_t interface);
  int check(const TxTrain& packet) const;
  int wrap(std::size_t i, const TxTrain& packet);
  void write_checksum(std::size_t i, const TxTrain& train, std::size_t udp_at);
  void count(const TxTrain& packet, int error);
  int refuse(const TxTrain& packet, int error);
  void send_held();
  bool ours(const FrameContent* content);
  bool refill();
  std::size_t split(std::span<RxPacket> out);

  std::unique_ptr<Port> frames_;
  FramedPortOptions options_;
  std::uint32_t interface_;
  Neighbours neighbours_;
  HeldPackets held_;
  Fd decoy_;
  Fd shield_;  // the link of the program that keeps our frames from the kernel's stack, where there may be
               // one
  Fd epoll_;
  bool offload_;
  std::unique_ptr<Storage> storage_;
  std::size_t available_ = 0;  // frames of the last read
  std::size_t current_ = 0;    // frame being split
  std::uint32_t offset_ = 0;   // into its UDP payload
  Counters counters_;
};

}  // namespace mrc::port
