// The kernel's side of a node, by netlink: messages in, acknowledgements out; and the messages of the lab
// that topo does not write: cables, neighbours, encapsulation routes, queues and filters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ipv6.h"
#include "base/result.h"
#include "topo/ids.h"
#include "topo/netlink_messages.h"

namespace mrc::lab {

using Messages = topo::NetlinkMessages;

/// Sends all messages of a batch, each of which asks for an acknowledgement, and waits for these. The first
/// refusal ends it; `doing` begins the sentence.
Status apply(int netlink, const std::vector<std::uint8_t>& batch, const std::string& doing);

/// The kernel takes its time to notice a carrier that came or went, up to a second, and drops what is sent
/// meanwhile. Asking for the link's state makes it look now. `socket` is any of the namespace.
void settle_carrier(int socket, const std::string& interface);

/// One end of a virtual cable. Indices are ours to choose, so that nobody has to ask for them.
struct CableEnd {
  std::string name;
  unsigned index = 0;
  topo::Mac mac{};
  int space = -1;  // network namespace
};
/// To be sent from within the namespace of `here`.
void add_cable(Messages& out, const CableEnd& here, const CableEnd& there, std::uint32_t mtu);
void set_link(Messages& out, unsigned index, bool up);
void add_neighbour(Messages& out, unsigned index, const Ipv6& address, const topo::Mac& mac);

/// To `destination` through `carrier`, by `index`: IPv6 in IPv6 (encap.red with one segment writes no SRH).
void add_encapsulation(Messages& out, std::uint32_t table, const Ipv6& destination, const Ipv6& carrier,
                       unsigned index);
/// Every address of `prefix` is this node's own.
void add_local_prefix(Messages& out, const Ipv6Prefix& prefix);
struct PortSpan {
  std::uint16_t first = 0, last = 0;
};
/// UDP from these source ports looks into `table` first.
void add_source_port_rule(Messages& out, PortSpan ports, std::uint32_t table, std::uint32_t priority);

/// How an interface that the kernel slows down behaves. The defaults let large trains through as they are,
/// and keep a short queue that drops; a NIC that takes from its host what its wire carries has no burst, and
/// room for all that is in flight.
struct Shaping {
  std::uint32_t least_burst = 128 * 1024;  // bytes at full speed after a rest: two of the largest trains
  std::uint64_t queue_ns = 2'000'000;      // what may wait besides, in time on the wire
};
/// What leaves by an interface, at most so fast (tbf); 0: as fast as it can.
void set_rate(Messages& out, unsigned index, std::uint64_t bits_per_second, bool had_one,
              const Shaping& shaping = {});
/// A place for filters on what arrives and what leaves.
void add_hooks(Messages& out, unsigned index);
enum class Way : std::uint8_t { arrivals, departures };
/// Drops what comes or goes at random with this probability; `had_one` says that an earlier filter has to go.
void set_loss(Messages& out, unsigned index, Way way, double probability, bool had_one);

}  // namespace mrc::lab
