// A port that is another port with something around it. Those that wrap change what they want and pass the
// rest on.
#pragma once

#include <memory>

#include "port/port.h"

namespace mrc::port {

class WrappedPort : public Port {
 public:
  explicit WrappedPort(std::unique_ptr<Port> inner) : inner_(std::move(inner)) {}

  std::size_t tx(std::span<TxTrain> trains) override { return inner_->tx(trains); }
  std::size_t rx(std::span<RxPacket> out) override { return inner_->rx(out); }
  void attend() override { inner_->attend(); }
  bool rest() override { return inner_->rest(); }
  int wait_fd() const override { return inner_->wait_fd(); }
  int event_fd() const override { return inner_->event_fd(); }
  int tx_blocked_fd() const override { return inner_->tx_blocked_fd(); }
  void service() override { inner_->service(); }
  std::optional<Link> poll_link_event() override { return inner_->poll_link_event(); }
  Link link() const override { return inner_->link(); }
  Address local() const override { return inner_->local(); }
  Capabilities capabilities() const override { return inner_->capabilities(); }
  QpnRange qpns() const override { return inner_->qpns(); }
  const Counters& counters() const override { return inner_->counters(); }
  int prepare_source_port(std::uint16_t source_port) override {
    return inner_->prepare_source_port(source_port);
  }

  Port& inner() { return *inner_; }

 private:
  std::unique_ptr<Port> inner_;
};

}  // namespace mrc::port
