#include "datapath/driver.h"

#include <algorithm>

#include "base/check.h"
#include "port/no_cancel.h"
#include "wire/bth.h"
#include "wire/codec.h"

namespace mrc::datapath {

Driver::Driver(nic::Nic& nic, std::span<port::Port* const> ports, const DriverSettings& settings)
    : nic_(nic),
      settings_(settings),
      ports_(ports.begin(), ports.end()),
      arrivals_(settings.rx_burst),
      readiness_(ports),
      hold_(settings.hold),
      patience_(settings.patience) {
  outboxes_.reserve(ports_.size());
  for (port::Port* port : ports_) {
    MRC_CHECK(port->capabilities().layer == port::Layer::datagram);
    if (port->capabilities().cheap_to_ask)
      cheap_.add(PortId(static_cast<std::uint8_t>(outboxes_.size() + 1)));
    outboxes_.emplace_back(*port, settings_.wire, settings_.outbox);
  }
}

bool Driver::turn(Time now) {
  service(now);
  bool moved = receive(now) != 0;
  run_timers(now);
  hold_.release();
  moved |= send(now);
  return moved;
}

bool Driver::glance(Time now) {
  service(now);
  writes_ = 0;
  const std::size_t arrived = receive(now);
  run_timers(now);
  hold_answers(now);
  // Writes open no window: there is nothing to send but what waits for the reply.
  if (hold_.holding() && writes_ > 0 && writes_ == arrived) return true;
  return send(now) || arrived != 0;
}

// MRC-NIC-017: what has come is heard before anything is taken for missing.
void Driver::run_timers(Time now) {
  if (patience_.is_over(now, nic_.next_timeout())) nic_.handle_timeout(now);
}

// MRC-NIC-011: answers of a polling application may wait for its reply, and for the next few arrivals of a
// conversation.
void Driver::hold_answers(Time now) {
  if (writes_ > 0 && !message_ended_) return hold_.release();  // nobody can reply to a part of a message
  if (!hold_.look(now, writes_) || writes_ == 0) return;
  (void)nic_.poll_transmit(now, PortMask{}, departure_);  // what completed is in its CQ
  if (!nic_.has_control()) hold_.release();
}

/// One port at a time, after the first: a message that arrives would have to wait for all of them.
void Driver::service(Time now) {
  if (now < next_service_) return;
  const bool first = next_service_ == Time::min();
  next_service_ = now + settings_.service_interval;
  for (std::size_t n = first ? ports_.size() : std::min<std::size_t>(ports_.size(), 1); n > 0; --n) {
    serve_next_ = (serve_next_ + 1) % ports_.size();
    service(now, serve_next_, first);
  }
}

void Driver::service(Time now, std::size_t port, bool changed) {
  const port::NoCancel whole;
  const PortId id(static_cast<std::uint8_t>(port + 1));
  ports_[port]->service();
  eager_.add(id);
  while (ports_[port]->poll_link_event()) changed = true;
  if (changed) follow_link(now, id);
}

void Driver::follow_link(Time now, PortId port) {
  nic_.set_port(now, port, ports_[port.value - 1u]->link().up && port_admin(port) && port_address(port));
}

void Driver::set_port_admin(Time now, PortId port, bool enabled) {
  enabled ? disabled_.remove(port) : disabled_.add(port);
  follow_link(now, port);
}

void Driver::set_port_address(Time now, PortId port, bool present) {
  present ? homeless_.remove(port) : homeless_.add(port);
  follow_link(now, port);
}

/// Asking quiet ports one by one would cost a system call each, unless they are cheap to ask, and an idle
/// turn is all that a message waits for.
std::size_t Driver::receive(Time now) {
  const auto is_quiet = [&](std::size_t i) {
    const PortId id(static_cast<std::uint8_t>(i + 1));
    return !eager_.has(id) && !cheap_.has(id);
  };
  std::size_t quiet = 0, taken = 0;
  for (std::size_t i = 0; i < ports_.size(); ++i) quiet += is_quiet(i);
  if (quiet > 1) readiness_.look(is_quiet);
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    if (quiet < 2 || !is_quiet(i) || readiness_.readable(i)) taken += receive(now, i);
  }
  return taken;
}

std::size_t Driver::receive(Time now, std::size_t port) {
  const std::size_t n = ports_[port]->rx(arrivals_);
  const PortId id(static_cast<std::uint8_t>(port + 1));
  n > settings_.rx_few ? eager_.add(id) : eager_.remove(id);
  for (std::size_t i = 0; i < std::min(n, kFetchAhead); ++i) fetch(arrivals_[i]);
  for (std::size_t i = 0; i < n; ++i) {
    if (i + kFetchAhead < n) fetch(arrivals_[i + kFetchAhead]);
    if (i + 2 < n) expect(arrivals_[i + 2]);
    if (i == 0 || !same_around(arrivals_[i - 1], arrivals_[i])) look_around(arrivals_[i]);
    take(now, id, arrivals_[i]);
  }
  return n;
}

/// Headers first: the kernel's copy of a long message leaves its front in no near cache.
void Driver::fetch(const port::RxPacket& packet) {
  constexpr std::size_t kCacheLine = 64;
  __builtin_prefetch(packet.data);
  __builtin_prefetch(packet.data + kCacheLine);
}

/// The packet after the next: its QP is on its way from memory meanwhile.
void Driver::expect(const port::RxPacket& packet) {
  const wire::BthView bth(wire::Bytes(reinterpret_cast<const std::uint8_t*>(packet.data), packet.size));
  if (!bth || bth.dqpn() == expected_) return;
  expected_ = bth.dqpn();
  nic_.expect(expected_);
}

/// What surrounds the packets of one coalesced message is the same for all of them, and shared by pointer.
bool Driver::same_around(const port::RxPacket& a, const port::RxPacket& b) {
  return a.from == b.from && a.to == b.to && a.source_port == b.source_port && a.flow_label == b.flow_label &&
         a.tos == b.tos;
}

void Driver::look_around(const port::RxPacket& packet) {
  around_.source.bytes = packet.from->ip;
  around_.destination.bytes = packet.to->ip;
  around_.source_port = packet.source_port;
  around_.destination_port = settings_.wire.udp_port;
  around_.flow_label = packet.flow_label;
  around_.traffic_class = packet.tos;
}

void Driver::take(Time now, PortId port, const port::RxPacket& packet) {
  const wire::Bytes bytes(reinterpret_cast<const std::uint8_t*>(packet.data), packet.size);
  const Verdict verdict = wire::parse_datagram(bytes, around_, settings_.wire, parsed_);
  if (verdict != Verdict::ok && verdict != Verdict::trimmed_ok) return refused_.add(verdict);
  parsed_.envelope.port = port;
  if (packet.overheard)
    return nic_.overhear(now, parsed_.packet, parsed_.envelope, around_.source, packet.answered);
  if (const auto* write = std::get_if<wire::Write>(&parsed_.packet.body)) {
    ++writes_;
    message_ended_ = write->segment == wire::Segment::only || write->segment == wire::Segment::last;
  }
  nic_.handle(now, parsed_.packet, parsed_.envelope, around_.source, std::as_bytes(parsed_.payload));
}

PortMask Driver::room() const {
  PortMask mask;
  for (std::size_t i = 0; i < outboxes_.size(); ++i) {
    if (outboxes_[i].has_room()) mask.add(PortId(static_cast<std::uint8_t>(i + 1)));
  }
  return mask;
}

bool Driver::transmit(Time now) {
  const bool moved = send(now);
  if (moved && hold_.holding()) hold_.note_reply();
  return moved;
}

bool Driver::send(Time now) {
  return send(now, hold_.holding() ? &nic::Nic::poll_data : &nic::Nic::poll_transmit);
}

bool Driver::send(Time now, bool (nic::Nic::*poll)(Time, PortMask, nic::Departure&)) {
  for (Outbox& box : outboxes_) {
    if (box.blocked()) box.flush();
  }
  bool moved = false;
  for (std::uint32_t burst = 0; burst < settings_.tx_bursts; ++burst) {
    PortMask open = room();
    bool more = (nic_.*poll)(now, open, departure_);
    if (!more) return moved;
    while (more) {
      Outbox& box = outboxes_[departure_.transmit.envelope.port.value - 1u];
      box.add(departure_);
      if (!box.has_room()) open.remove(departure_.transmit.envelope.port);
      more = !open.empty() && (nic_.*poll)(now, open, departure_);
    }
    for (Outbox& box : outboxes_) box.flush();
    moved = true;
  }
  (void)nic_.poll_transmit(now, PortMask{}, departure_);  // deadlines and completions are up to date
  return moved;
}

void Driver::discard_unsent() {
  for (Outbox& box : outboxes_) box.discard();
}

}  // namespace mrc::datapath
