#include "pair/network.h"

#include <algorithm>

#include "engine/sizes.h"

namespace mrc::pair {
namespace {

constexpr std::uint32_t kFraming = 24 + 40;  // Ethernet preamble, header, FCS, gap; IPv6
constexpr std::uint32_t kControlBytes = 60;

std::uint32_t bytes_on_wire(const wire::Packet& p) {
  const auto* w = std::get_if<wire::Write>(&p.body);
  return kFraming + (w != nullptr ? engine::udp_length(*w) : kControlBytes);
}

bool is_data(const wire::Packet& p) { return std::holds_alternative<wire::Write>(p.body); }

}  // namespace

Network::Network(std::span<const engine::Path> paths, double bytes_per_us, std::uint64_t seed)
    : paths_(paths.begin(), paths.end()), bytes_per_us_(bytes_per_us), prng_(seed) {
  for (auto& direction : lanes_) direction.resize(paths_.size());
  for (const auto& p : paths_) ports_.add(p.port);
}

void Network::for_port(PortId port, const std::function<void(Lane&)>& change) {
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i].port != port) continue;
    change(lanes_[0][i]);
    change(lanes_[1][i]);
  }
}

PortMask Network::room(int side, Time now) const {
  PortMask open;
  for (std::uint8_t p = 0; p <= kMaxPorts; ++p) {
    if (ports_.has(PortId(p)) && busy_until_[side][p] <= now) open.add(PortId(p));
  }
  return open;
}

Time Network::next_room(int side, Time now) const {
  Time soonest = kNever;
  for (std::uint8_t p = 0; p <= kMaxPorts; ++p) {
    if (ports_.has(PortId(p)) && busy_until_[side][p] > now)
      soonest = std::min(soonest, busy_until_[side][p]);
  }
  return soonest;
}

bool Network::set_port(int side, PortId port, bool up) {
  if (!ports_.has(port)) return false;
  up ? down_[side].remove(port) : down_[side].add(port);
  return true;
}

void Network::send(Time now, int from, const engine::Transmit& t) {
  ++counters_.sent;
  const PortId port = t.envelope.port;
  Time& busy = busy_until_[from][port.value];
  const auto serial = Duration(static_cast<std::int64_t>(bytes_on_wire(t.packet) * 1000.0 / bytes_per_us_));
  busy = std::max(busy, now) + serial;

  Lane& lane = lanes_[from][t.slot.value];
  const bool cut = lane.dead || down_[0].has(port) || down_[1].has(port) || prng_.chance(lane.loss);
  const bool kept = !filter || filter(now, from, t);  // asked even about lost packets: it sees what was sent
  if (cut || !kept) {
    ++counters_.lost;
    return;
  }
  Arrival a{.side = 1 - from, .packet = t.packet, .envelope = t.envelope, .work = t.work, .offset = t.offset};
  if (is_data(a.packet) && prng_.chance(lane.trim)) {
    ++counters_.trimmed;
    a.envelope.traffic_class =
        prng_.chance(0.5) ? wire::TrafficClass::trimmed : wire::TrafficClass::trimmed_lasthop;
  } else if (is_data(a.packet) && prng_.chance(lane.mark)) {
    ++counters_.marked;
    a.envelope.ecn = wire::Ecn::ce;
  }
  if (prng_.chance(lane.duplicate)) {
    ++counters_.duplicated;
    deliver(busy, from, lane, a);
  }
  deliver(busy, from, lane, a);
}

void Network::deliver(Time leaves, int, Lane& lane, Arrival a) {
  // A corrupted packet fails its iCRC at the other end, which is to say that it never arrived.
  if (prng_.chance(lane.corrupt)) {
    ++counters_.corrupted;
    return;
  }
  Duration delay = lane.delay;
  if (lane.jitter.count() > 0)
    delay += Duration(prng_.below(static_cast<std::uint32_t>(lane.jitter.count())));
  a.when = leaves + delay;
  // Trimmed and control packets overtake data in a queue; data of one path never overtakes data.
  if (!wire::is_trimmed(a.envelope.traffic_class) &&
      a.envelope.traffic_class != wire::TrafficClass::control) {
    a.when = lane.last_arrival = std::max(a.when, lane.last_arrival);
  }
  a.order = order_++;
  flying_.push(a);
}

void Network::postpone(Arrival a, Time until) {
  a.when = until;
  flying_.push(a);
  --counters_.delivered;
}

Arrival Network::pop() {
  Arrival a = flying_.top();
  flying_.pop();
  ++counters_.delivered;
  return a;
}

}  // namespace mrc::pair
