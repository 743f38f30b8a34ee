#include "nic/endpoint.h"

#include <cerrno>

#include "base/prng.h"

namespace mrc::nic {
namespace {

wire::Timestamp ticks(Time t) { return {static_cast<std::uint16_t>(t.time_since_epoch().count() >> 7)}; }

wire::Timestamp advanced(wire::Timestamp stamp, Duration held) {
  return {static_cast<std::uint16_t>(stamp.ticks + (held.count() >> 7))};
}

wire::Packet packet_to_endpoint(Psn id, const wire::Body& body) {
  wire::Packet packet;
  packet.dqpn = kEndpointQpn;
  packet.psn = id;
  packet.body = body;
  return packet;
}

wire::Envelope control_envelope(Ev ev, PortId port) {
  return {ev, port, wire::TrafficClass::control, wire::Ecn::not_ect};
}

constexpr std::uint32_t kIdMask = 0xFFFF;

}  // namespace

Endpoint::Endpoint(const NicLimits& limits, const EndpointSettings& settings, PathTable paths,
                   std::uint64_t seed, TimerHeap& timers)
    : settings_(settings),
      paths_(std::move(paths)),
      timers_(timers),
      replies_(limits.endpoint_replies),
      requests_(limits.endpoint_requests),
      next_id_(static_cast<std::uint16_t>(Prng(seed).next())) {}

Verdict Endpoint::handle_request(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                                 const Gid& source) {
  // MRC-NIC-006: endpoint requests are answered whether or not we know the asker; the id and the time come
  // back.
  const auto& request = std::get<wire::EndpointRequest>(packet.body);
  const Reply reply{
      source, {request.op, request.timestamp}, Psn(packet.psn.value() & kIdMask), envelope.ev, envelope.port,
      now};
  return replies_.push(reply) ? Verdict::ok : Verdict::no_resource;
}

Verdict Endpoint::handle_response(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                                  const Gid& source, Peer* peer, EndpointResult& result) {
  const auto id = static_cast<std::uint16_t>(packet.psn.value() & kIdMask);
  if (peer != nullptr && peer->announcement.open && peer->announcement.request == id) {
    peer->announcement.open = false;
    forget(*peer);
    timers_.remove(*peer);
    return Verdict::ok;
  }
  for (Request& r : requests_) {
    if (!r.open || r.due || r.id != id || r.work.to != source) continue;
    r.open = false;
    --open_requests_;
    // What the peer held the request for came back on top of our timestamp.
    const wire::Timestamp echo = std::get<wire::EndpointResponse>(packet.body).timestamp;
    const Duration held{std::int64_t{static_cast<std::uint16_t>(echo.ticks - ticks(r.sent).ticks)} << 7};
    const bool known = held.count() > 0 && held < now - r.sent;
    result = {r.work.cookie, true, known ? now - r.sent - held : now - r.sent, envelope.port, known};
    return Verdict::ok;
  }
  return Verdict::stale;
}

int Endpoint::post(Time now, const EndpointWork& work) {
  for (Request& r : requests_) {
    if (r.open) continue;
    r = Request{work, take_id(), true, true, now};
    ++open_requests_;
    ++due_requests_;
    timers_.arm(clock_, now + settings_.probe_timeout);
    return 0;
  }
  return ENOBUFS;
}

void Endpoint::cancel(std::uint64_t cookie) {
  for (Request& r : requests_) {
    if (!r.open || r.work.cookie != cookie) continue;
    r.open = false;
    --open_requests_;
    if (r.due) --due_requests_;
  }
}

void Endpoint::announce(Time, Peer& peer) {
  // A new state of the ports is a new request: an answer to the old one says nothing about it.
  peer.announcement = {true, true, take_id(), 0, peer.announcement.turn};
  timers_.remove(peer);
  announcing_.push_back(peer);
}

void Endpoint::handle_announce_timeout(Time, Peer& peer) {
  if (!peer.announcement.open) return;
  if (peer.announcement.tries >= settings_.announce_tries) {
    peer.announcement.open = false;
    return;
  }
  peer.announcement.due = true;
  announcing_.push_back(peer);
}

const engine::Path* Endpoint::path_for(PortMask room, std::uint16_t& turn) const {
  if (paths_ == nullptr) return nullptr;
  for (std::size_t i = 0; i < paths_->size(); ++i) {
    const engine::Path& path = (*paths_)[turn++ % paths_->size()];
    if (room.has(path.port)) return &path;
  }
  return nullptr;
}

bool Endpoint::poll_transmit(Time now, PortMask room, PortMask up, EndpointPacket& out) {
  return poll_reply(now, room, out) || poll_announcement(now, room, up, out) || poll_request(now, room, out);
}

bool Endpoint::poll_reply(Time now, PortMask room, EndpointPacket& out) {
  if (replies_.empty() || !room.has(replies_.front().port)) return false;
  const Reply reply = replies_.pop();
  PortMask same_port;
  same_port.add(reply.port);
  // Our own EVs of that port are known to be usable; the asker's is only a guess on the way back.
  const engine::Path* own = path_for(same_port, reply_turn_);
  wire::EndpointResponse response = reply.response;
  response.timestamp = advanced(response.timestamp, now - reply.arrived);
  out = {packet_to_endpoint(reply.psn, response),
         control_envelope(own != nullptr ? own->ev : reply.ev, reply.port), reply.to};
  return true;
}

bool Endpoint::poll_announcement(Time now, PortMask room, PortMask up, EndpointPacket& out) {
  if (announcing_.empty()) return false;
  Peer& peer = announcing_.front();
  Announcement& a = peer.announcement;
  const engine::Path* path = path_for(room & up, a.turn);
  if (path == nullptr) return false;
  List<Peer, AnnounceTag>::remove(peer);
  a.due = false;
  const int doublings = a.tries < 16 ? a.tries : 16;
  Duration wait = settings_.announce_interval * (1 << doublings);
  if (wait > settings_.announce_backoff_max) wait = settings_.announce_backoff_max;
  ++a.tries;
  timers_.arm(peer, now + wait);
  const wire::EndpointRequest request{wire::EndpointOp::port_status_update, up, ticks(now)};
  out = {packet_to_endpoint(Psn(a.request), request), control_envelope(path->ev, path->port),
         peer.address(path->port)};
  return true;
}

bool Endpoint::poll_request(Time now, PortMask room, EndpointPacket& out) {
  if (due_requests_ == 0) return false;
  for (Request& r : requests_) {
    if (!r.open || !r.due || !room.has(r.work.port)) continue;
    r.due = false;
    --due_requests_;
    r.sent = now;
    wire::Envelope envelope{r.work.ev, r.work.port, wire::TrafficClass::no_trim, wire::Ecn::ect0};
    const wire::EndpointRequest request{r.work.op, r.work.port_status, ticks(now)};
    out = {packet_to_endpoint(Psn(r.id), request), envelope, r.work.to, r.work.dscp};
    return true;
  }
  return false;
}

bool Endpoint::poll_expired(Time now, EndpointResult& out) {
  if (open_requests_ == 0) return false;
  Time earliest = kNever;
  for (Request& r : requests_) {
    if (!r.open) continue;
    if (now - r.sent < settings_.probe_timeout) {
      if (r.sent + settings_.probe_timeout < earliest) earliest = r.sent + settings_.probe_timeout;
      continue;
    }
    r.open = false;
    --open_requests_;
    if (r.due) --due_requests_;  // its port never had room
    out = {r.work.cookie, false, {}, {}};
    return true;
  }
  timers_.arm(clock_, earliest);
  return false;
}

}  // namespace mrc::nic
