// Two kernel hosts under two of our T0s, joined by one of our T1s, all on veths in namespaces of this
// process.
//
//   h0 -- p0.t0.0 -- p0.t1.0 -- p0.t0.1 -- h1
// The hosts are Linux: routes and segment ids as `mrc topo emit` writes them, encapsulation by the kernel,
// UDP sockets.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/soft_switch.h"
#include "topo/topo.h"

namespace mrc::testing {

class SmallFabric {
 public:
  /// `small` is the switch with small queues: 0 and 1 the T0s, 2 the T1. Returns a sentence where it can not
  /// be made.
  std::optional<std::string> start(int small);
  ~SmallFabric();

  /// A UDP socket of a host, bound to its NIC address and port 4791, that tells each datagram's traffic
  /// class.
  int udp_socket(std::uint32_t host);
  topo::Topology& topo() { return topo_; }
  lab::SoftSwitch& t0(std::uint32_t i) { return *switches_[i]; }
  lab::SoftSwitch& t1() { return *switches_[2]; }

  /// Turns all switches until `done` says so, or nothing has happened for two seconds: then it is false.
  bool run_until(const std::function<bool()>& done);

 private:
  std::string make_hosts();
  std::string make_switches(int small);
  std::string in_host(std::uint32_t host, const std::function<std::string()>& work);

  topo::Topology topo_ =
      *topo::Topology::make({.planes = 1, .tiers = 2, .t0 = 2, .t1 = 1, .hosts_per_t0 = 1});
  std::vector<std::unique_ptr<lab::SoftSwitch>> switches_;
  int home_ = -1;
  int hosts_[2] = {-1, -1};
};

}  // namespace mrc::testing
