#include "sim/carriage.h"

#include "engine/sizes.h"
#include "wire/codec.h"

namespace mrc::sim {

std::uint32_t datagram_bytes(const wire::Packet& packet) {
  if (const auto* write = std::get_if<wire::Write>(&packet.body)) return engine::udp_length(*write);
  return static_cast<std::uint32_t>(engine::kUdp + wire::header_size(packet) + engine::kIcrc);
}

void write_route(const topo::Topology& topo, topo::HostId source, topo::HostId destination,
                 const topo::Choice& c, fabric::Frame& frame) {
  using topo::Tier;
  const topo::Spec& spec = topo.spec();
  const topo::UsidPlan& plan = topo.usid_plan();
  const std::uint32_t from = topo.t0_of(source), to = topo.t0_of(destination);
  std::size_t n = 0;
  const auto add = [&](Tier tier, std::uint32_t index) {
    frame.usids[n++] = plan.usid({tier, c.plane, index}).value;
  };
  add(Tier::t0, from);
  if (from != to) {
    const std::uint32_t pod_from = topo.pod_of_t0(from), pod_to = topo.pod_of_t0(to);
    add(Tier::t1, pod_from * spec.t1 + c.uplink0);
    if (pod_from != pod_to) {
      add(Tier::t2, c.uplink0 * spec.t2 + c.uplink1);
      add(Tier::t1, pod_to * spec.t1 + c.uplink0);
    }
    add(Tier::t0, to);
  }
  add(Tier::host, topo.downlink_of(destination));
  if (n < frame.usids.size()) frame.usids[n] = 0;
  frame.usid_at = 0;
  frame.destination = fabric::destination_key(to, topo.downlink_of(destination));
}

}  // namespace mrc::sim
