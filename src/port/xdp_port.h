// Whole frames through AF_XDP: the lowest latency, with any encapsulation; needs CAP_BPF, CAP_NET_ADMIN and
// CAP_NET_RAW on the host. Copy mode, so that any driver will do. It owns one queue of its interface; frames
// that aren't MRC's go to the kernel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "port/bpf.h"
#include "port/link_watch.h"
#include "port/port.h"
#include "port/xdp_socket.h"

namespace mrc::port {

struct XdpPortOptions {
  std::string interface;
  std::uint32_t queue = 0;
  std::uint16_t udp_port = 4791;
  bool driver_mode = true;  // try the driver's own XDP first, then the generic one
};

class XdpPort final : public Port {
 public:
  static Result<std::unique_ptr<XdpPort>> open(const XdpPortOptions& options);
  ~XdpPort() override;

  std::size_t tx(std::span<TxTrain> trains) override;
  std::size_t rx(std::span<RxPacket> out) override;
  int wait_fd() const override { return socket_->fd(); }
  int event_fd() const override { return watch_.fd(); }
  int tx_blocked_fd() const override { return blocked_ ? socket_->fd() : -1; }
  void service() override;
  std::optional<Link> poll_link_event() override { return watch_.poll_event(); }
  Link link() const override;
  Address local() const override { return {}; }
  Capabilities capabilities() const override;
  const Counters& counters() const override { return counters_; }
  /// Whether the driver runs the program, or the kernel's generic code does.
  XdpMode mode() const { return mode_; }

 private:
  static constexpr std::uint32_t kMaxBurst = 64;

  XdpPort(const XdpPortOptions& options, Fd map, Fd program, LinkWatch watch);
  Status attach();
  Status link_program();
  Error explain(Error error, const char* when_busy) const;
  std::uint32_t max_frame() const;
  int put(const TxTrain& train);
  void push();
  void reclaim();
  void recycle();
  std::uint32_t parts_of_next() const;
  bool take(std::uint32_t parts, RxPacket& out);

  XdpPortOptions options_;
  Fd map_, program_, link_;
  std::unique_ptr<XdpSocket> socket_;
  LinkWatch watch_;
  std::uint32_t attached_to_ = 0;  // interface; 0: to none
  XdpMode mode_ = XdpMode::driver;
  std::vector<std::uint32_t> free_places_;      // for sending
  std::vector<std::uint8_t> chunks_in_flight_;  // of each place for sending
  std::vector<std::uint64_t> shown_;            // chunks whose frames the last rx() showed
  bool blocked_ = false;
  std::uint64_t dropped_ = 0;
  Counters counters_;
};

}  // namespace mrc::port
