#include "sim/feasible.h"

#include <cerrno>

#include "engine/record_pool.h"

namespace mrc::sim {
namespace {

// Hosts with more peers have some more records than the first one.
constexpr std::uint32_t kMostInFlight = engine::RecordPool::kNone * engine::Slab::kPsns - 2048;

Status check_round_trip(const HostPlan& plan, Ps rtt) {
  const std::uint32_t records = plan.nic_limits(0).packets_in_flight;
  const bool nscc = plan.settings.congestion == engine::CcAlgorithm::nscc;
  if (records < kMostInFlight && (!nscc || check_nscc(plan.cc_profile().nscc))) return Done{};
  const topo::LinkSpec& link = plan.topo.spec().host_link;
  return Error{EINVAL,
               "a round trip of " + topo::delay_text(Duration(rtt / kPsPerNs)) + " at " +
                   std::to_string(plan.topo.planes()) + " x " + topo::rate_text(link.bits_per_second) +
                   " is more than the engine keeps in flight; shorten the links' delay or lower the rate"};
}

/// Without answers nothing is ever acknowledged.
Status check_control_room(const HostPlan& plan) {
  const std::uint32_t sack = datagram_bytes({.body = wire::Sack{}}) + plan.settings.encapsulation.overhead();
  const std::uint32_t room = plan.links.of(topo::LinkKind::host_t0, topo::Direction::down).control_limit;
  if (room >= sack) return Done{};
  return Error{EINVAL, "ports to_host have room for " + std::to_string(room) +
                           " bytes of control, less than a SACK of " + std::to_string(sack) +
                           "; raise queues.control_bdp"};
}

Status check_room(const HostPlan& plan) {
  const topo::Topology& topo = plan.topo;
  const auto small = [&](topo::LinkKind kind, topo::Direction direction, const char* port) -> Status {
    const std::uint32_t room = plan.links.of(kind, direction).data_limit;
    if (room >= plan.full_frame()) return Done{};
    return Error{EINVAL, std::string("ports ") + port + " have room for " + std::to_string(room) +
                             " bytes of data, less than a packet of " + std::to_string(plan.full_frame()) +
                             "; raise queues.data_bdp or the file's Queue_Up and Queue_Down, or lower "
                             "transport.pmtu"};
  };
  using topo::Direction;
  using topo::LinkKind;
  if (auto ok = small(LinkKind::host_t0, Direction::down, "to_host"); !ok) return ok;
  if (topo.tiers() < 2) return Done{};
  if (auto ok = small(LinkKind::t0_t1, Direction::up, "t0_up"); !ok) return ok;
  if (auto ok = small(LinkKind::t0_t1, Direction::down, "t1_down"); !ok) return ok;
  if (topo.tiers() < 3) return Done{};
  if (auto ok = small(LinkKind::t1_t2, Direction::up, "t1_up"); !ok) return ok;
  return small(LinkKind::t1_t2, Direction::down, "t2_down");
}

}  // namespace

Status feasible(const topo::Topology& topo, const WorldSettings& settings, Workload& load) {
  HostSettings hosts = settings.hosts;
  hosts.wire = false;  // makes tables that nobody needs here
  const bool roce = hosts.transport == Transport::roce;
  hosts.encapsulation.srv6 = !roce && settings.forwarding.forwarding == fabric::Forwarding::usid;
  const Ps rtt = base_rtt(topo, hosts.path_mtu + 150u, 150);
  const LinkPlan links = plan_links(topo, settings.queues, rtt);
  const HostPlan plan(topo, links, hosts, settings.queues.trim, load);
  if (!roce) {
    if (auto ok = check_round_trip(plan, rtt); !ok) return ok;
  }
  if (auto ok = check_control_room(plan); !ok) return ok;
  return roce && hosts.roce.pfc ? Status(Done{}) : check_room(plan);
}

}  // namespace mrc::sim
