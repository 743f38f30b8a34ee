// Whole frames through a packet socket: any encapsulation, no IP stack in between; needs CAP_NET_RAW. What
// the kernel has coalesced or left unsummed (veth, offloads) is told by the header that PACKET_VNET_HDR puts
// before each frame.
#pragma once

#include <memory>
#include <string>

#include "port/fd.h"
#include "port/link_watch.h"
#include "port/port.h"

namespace mrc::port {

struct PacketPortOptions {
  std::string interface;
  std::uint16_t udp_port = 4791;  // take only UDP to this port (also inside IPv6 in IPv6); 0: every frame
  bool bypass_queues = true;      // skip traffic control on the way out
  std::uint32_t receive_buffer = 32u << 20;
};

class PacketPort final : public Port {
 public:
  static Result<std::unique_ptr<PacketPort>> open(const PacketPortOptions& options);
  ~PacketPort() override;

  std::size_t tx(std::span<TxTrain> trains) override;
  std::size_t rx(std::span<RxPacket> out) override;
  int wait_fd() const override { return socket_.get(); }
  int event_fd() const override { return watch_.fd(); }
  int tx_blocked_fd() const override { return blocked_ ? socket_.get() : -1; }
  void service() override;
  std::optional<Link> poll_link_event() override { return watch_.poll_event(); }
  Link link() const override { return watch_.link(); }
  Address local() const override { return {}; }
  Capabilities capabilities() const override;
  const Counters& counters() const override { return counters_; }

 private:
  static constexpr std::uint32_t kMaxBurst = 64;
  static constexpr std::uint32_t kMaxMessages = 32;
  static constexpr std::uint32_t kMaxPieces = 15;  // of one frame
  static constexpr std::uint32_t kMaxFrame = 65536 + 128;

  struct Storage;

  PacketPort(Fd socket, LinkWatch watch);
  bool is_sound(const TxTrain& train) const;
  void fill(std::size_t i, const TxTrain& train);
  std::size_t push(std::span<TxTrain> burst);
  void discard(TxTrain& train, int error);
  bool show(std::size_t i, RxPacket& out);

  Fd socket_;
  LinkWatch watch_;
  std::uint32_t bound_to_;  // interface
  std::unique_ptr<Storage> storage_;
  Counters counters_;
  bool blocked_ = false;
  std::uint32_t batch_ = 1;
};

}  // namespace mrc::port
