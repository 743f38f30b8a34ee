// The Linux kernel as one SRv6 switch with three ports, in a network namespace of this process.
//
// Its ports sw0, sw1, sw2 are veths whose other ends te0, te1, te2 are ours: frames go in and come out
// through packet sockets. Static routes and permanent neighbours only, so nothing but what we send crosses
// the wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mrc::testing {

using Frame = std::vector<std::uint8_t>;

class KernelSwitch {
 public:
  static constexpr int kPorts = 3;

  /// Moves this process into a namespace and configures it; a sentence where the machine forbids that. `own`
  /// is the switch's uSID prefix; `routes` are `ip -6 route add` lines, in which "portN" stands for the way
  /// out of port N.
  std::optional<std::string> start(const std::string& own, const std::vector<std::string>& routes);

  /// Sends into a port. REQUIRES: an Ethernet frame; its addresses are overwritten.
  void send(int port, Frame frame);
  /// The next frame that leaves any port, with the port's number, or nothing after a second: then it was
  /// lost.
  struct Received {
    int port = 0;
    Frame frame;
  };
  std::optional<Received> receive();

 private:
  std::uint8_t mac_[kPorts][6] = {};
  int fds_[kPorts] = {-1, -1, -1};
};

}  // namespace mrc::testing
