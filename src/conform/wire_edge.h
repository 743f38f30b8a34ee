// The tester on a real network: UDP sockets and the clock.
#pragma once

#include <memory>

#include "base/result.h"
#include "conform/edge.h"

namespace mrc::conform {

class WireEdge final : public Edge {
 public:
  /// `local` is an address of this host, `device` that of the device under test.
  static Result<std::unique_ptr<WireEdge>> open(const port::Address& local, const port::Address& device,
                                                std::uint16_t udp_port);
  Time now() override;
  port::Port& port() override { return *port_; }
  port::Address device() const override { return device_; }
  void wait(Time until) override;

 private:
  WireEdge(std::unique_ptr<port::Port> port, const port::Address& device)
      : port_(std::move(port)), device_(device) {}

  std::unique_ptr<port::Port> port_;
  port::Address device_;
};

}  // namespace mrc::conform
