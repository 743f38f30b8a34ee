// The tester on a real network: UDP sockets and the clock.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "conform/edge.h"

namespace mrc::conform {

class WireEdge final : public Edge {
 public:
  /// Plane by plane: addresses of this host, and of the device under test.
  static Result<std::unique_ptr<WireEdge>> open(const std::vector<port::Address>& local,
                                                const std::vector<port::Address>& device,
                                                std::uint16_t udp_port);
  Time now() override;
  int planes() const override { return static_cast<int>(ports_.size()); }
  port::Port& port(int plane) override { return *ports_[static_cast<std::size_t>(plane)]; }
  port::Address device(int plane) const override { return device_[static_cast<std::size_t>(plane)]; }
  void wait(Time until) override;

 private:
  explicit WireEdge(std::vector<port::Address> device) : device_(std::move(device)) {}

  std::vector<std::unique_ptr<port::Port>> ports_;
  std::vector<port::Address> device_;
};

}  // namespace mrc::conform
