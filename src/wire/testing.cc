#include "wire/testing.h"

namespace mrc::wire::testing {
namespace {

std::uint16_t u16(Prng& p) { return static_cast<std::uint16_t>(p.next()); }
std::uint32_t u32(Prng& p) { return static_cast<std::uint32_t>(p.next()); }
std::uint8_t u8(Prng& p) { return static_cast<std::uint8_t>(p.next()); }
bool coin(Prng& p) { return p.below(2) == 1; }

Write random_write(Opcode op, Prng& p) {
  Write w;
  w.va = p.next();
  w.rkey = RKey(u32(p));
  w.dma_length = u32(p);
  w.rqmsn = u16(p);
  w.msn = u16(p);
  const bool last = op == Opcode::write_last || op == Opcode::write_last_imm;
  const bool only = op == Opcode::write_only || op == Opcode::write_only_imm;
  w.segment = last                        ? Segment::last
              : only                      ? Segment::only
              : op == Opcode::write_first ? Segment::first
                                          : Segment::middle;
  w.has_imm = op == Opcode::write_last_imm || op == Opcode::write_only_imm;
  if (w.has_imm) w.imm = u32(p);
  w.has_timestamp = coin(p);
  if (w.has_timestamp) w.timestamp = {u16(p)};
  w.solicited = coin(p);
  w.ack_request = coin(p);
  w.retransmitted = coin(p);
  return w;
}

Sack random_sack(Prng& p) {
  Sack s;
  s.bitmap = p.next();
  s.entropy = Ev(u32(p));
  s.cack_psn = Psn(u32(p));
  s.rcvd_bytes = u32(p) & 0xFFFFFF;
  s.ack_psn_offset = static_cast<std::int16_t>(u16(p));
  s.sack_offset = static_cast<std::int16_t>(u16(p));
  s.spdcid = u16(p);
  s.dpdcid = u16(p);
  s.echo = {u16(p)};
  s.ooo_count = u16(p) & 0x7FFF;
  s.mpr = u8(p);
  s.rcv_cwnd_pen = u8(p) & 0x7F;
  s.mark = SackMark(p.below(3));
  s.probe_reply = coin(p);
  s.restore_cwnd = coin(p);
  return s;
}

Nack random_nack(Prng& p) {
  constexpr NackReason kReasons[] = {
      NackReason::trimmed,     NackReason::trimmed_lasthop, NackReason::no_bitmap,  NackReason::no_pkt_buffer,
      NackReason::no_resource, NackReason::psn_oor_window,  NackReason::unexp_event};
  return {Ev(u32(p)), Psn(u32(p)), u16(p), u16(p), Timestamp{u16(p)}, kReasons[p.below(7)], u8(p)};
}

TransportAck random_ack(Prng& p) {
  constexpr Syndrome kSyndromes[] = {Syndrome::ack, Syndrome::invalid_request, Syndrome::remote_access_error,
                                     Syndrome::remote_operational_error};
  return {u32(p) & 0xFFFFFF, kSyndromes[p.below(4)]};
}

Body random_body(Opcode op, Prng& p) {
  switch (op) {
    case Opcode::sack: return random_sack(p);
    case Opcode::nack: return random_nack(p);
    case Opcode::transport_ack: return random_ack(p);
    case Opcode::probe: return Probe{u16(p), u16(p), u16(p), Timestamp{u16(p)}, u8(p)};
    case Opcode::endpoint_request:
      return EndpointRequest{EndpointOp(p.below(2)), PortMask(u32(p)), Timestamp{u16(p)}, u8(p)};
    case Opcode::endpoint_response: return EndpointResponse{EndpointOp(p.below(2)), Timestamp{u16(p)}};
    default: return random_write(op, p);
  }
}

IpAddress random_ip(bool v4, Prng& p) {
  if (v4) return IpAddress::v4(10, u8(p), u8(p), u8(p));
  IpAddress a;
  for (auto& b : a.bytes) b = u8(p);
  a.bytes[0] = 0xFD;
  return a;
}

}  // namespace

Packet random_packet(Opcode opcode, Prng& prng) {
  Packet packet;
  packet.dqpn = Qpn(prng.below(1 << 24));
  packet.psn = Psn(u32(prng));
  packet.pkey = u16(prng);
  packet.body = random_body(opcode, prng);
  if (const auto* s = std::get_if<Sack>(&packet.body)) packet.psn = s->cack_psn;
  if (const auto* n = std::get_if<Nack>(&packet.body)) packet.psn = n->nack_psn;
  if (opcode == Opcode::endpoint_request || opcode == Opcode::endpoint_response) packet.dqpn = kEndpointQpn;
  return packet;
}

Envelope random_envelope(const Packet& packet, bool v4, Prng& prng) {
  Envelope e;
  e.ev = Ev(v4 ? u16(prng) : u32(prng));
  e.traffic_class =
      std::holds_alternative<Write>(packet.body) ? TrafficClass(prng.below(3)) : TrafficClass::control;
  e.ecn = Ecn(prng.below(4));
  return e;
}

Route random_route(Encapsulation encapsulation, Prng& prng) {
  const bool v4 = encapsulation == Encapsulation::ipv4;
  Route r{random_ip(v4, prng), random_ip(v4, prng)};
  const bool srh = encapsulation == Encapsulation::srv6_srh;
  if (srh || encapsulation == Encapsulation::srv6) r.usid_carrier = random_ip(false, prng);
  if (srh) r.next_carrier = random_ip(false, prng);
  return r;
}

std::vector<std::uint8_t> random_bytes(std::size_t n, Prng& prng) {
  std::vector<std::uint8_t> out(n);
  for (auto& b : out) b = u8(prng);
  return out;
}

}  // namespace mrc::wire::testing
