// The fields of a packet by name, for reading and for writing: printing, vectors and tools walk this one
// list. Names are "header.field" as in the Wireshark dissector (mrc.<header>.<field>).
//
// A visitor has header(name), number(name, field), hex(name, field, digits), offset(name, field) for signed
// fields and flag(name, field). Fields come as references to what the packet holds: Psn, Ev, enums and so on;
// raw_of() and assign() turn those into plain numbers and back.
#pragma once

#include <concepts>
#include <type_traits>

#include "wire/codec.h"

namespace mrc::wire {

template <class T>
requires std::integral<T> || std::is_enum_v<T>
constexpr std::uint64_t raw_of(T v) { return static_cast<std::uint64_t>(v); }
template <class Tag, class Rep>
constexpr std::uint64_t raw_of(Id<Tag, Rep> v) {
  return v.value;
}
constexpr std::uint64_t raw_of(Psn v) { return v.value(); }
constexpr std::uint64_t raw_of(Timestamp v) { return v.ticks; }
constexpr std::uint64_t raw_of(PortMask v) { return v.bits(); }

template <class T>
requires std::integral<T> || std::is_enum_v<T>
constexpr void assign(T& field, std::uint64_t v) { field = static_cast<T>(v); }
template <class Tag, class Rep>
constexpr void assign(Id<Tag, Rep>& field, std::uint64_t v) {
  field.value = static_cast<Rep>(v);
}
constexpr void assign(Psn& field, std::uint64_t v) { field = Psn(static_cast<std::uint32_t>(v)); }
constexpr void assign(Timestamp& field, std::uint64_t v) { field.ticks = static_cast<std::uint16_t>(v); }
constexpr void assign(PortMask& field, std::uint64_t v) { field = PortMask(static_cast<std::uint32_t>(v)); }

/// What follows BTH. `B` is a body or a const body.
template <class B, class V>
void visit_body(B& b, V& v, Reached reached) {
  using Kind = std::remove_const_t<B>;
  if constexpr (std::is_same_v<Kind, Write>) {
    if (reached < Reached::meth) return;
    v.header("meth"), v.number("rqmsn", b.rqmsn), v.number("msn", b.msn);
    if (b.has_timestamp && reached >= Reached::tseth) v.header("tseth"), v.number("timestamp", b.timestamp);
    if (reached < Reached::reth) return;
    v.header("reth"), v.hex("va", b.va, 16), v.hex("rkey", b.rkey, 8), v.number("dmalen", b.dma_length);
    if (b.has_imm && reached == Reached::everything) v.header("immdt"), v.hex("data", b.imm, 8);
  } else if constexpr (std::is_same_v<Kind, Sack>) {
    v.header("seth"), v.number("m", b.mark), v.flag("pr", b.probe_reply);
    v.offset("ack_psn_offset", b.ack_psn_offset), v.hex("entropy", b.entropy, 8);
    v.hex("spdcid", b.spdcid, 4), v.hex("dpdcid", b.dpdcid, 4), v.number("cack_psn", b.cack_psn);
    v.number("mpr", b.mpr), v.offset("sack_offset", b.sack_offset), v.hex("bitmap", b.bitmap, 16);
    v.header("ccstate"), v.number("timestamp", b.echo), v.number("ooo_count", b.ooo_count);
    v.flag("restore_cwnd", b.restore_cwnd), v.number("rcv_cwnd_pen", b.rcv_cwnd_pen);
    v.number("rcvd_bytes", b.rcvd_bytes);
  } else if constexpr (std::is_same_v<Kind, Nack>) {
    v.header("neth"), v.hex("reason", b.reason, 2), v.hex("vendor", b.vendor, 2),
        v.hex("entropy", b.entropy, 8);
    v.hex("spdcid", b.spdcid, 4), v.hex("dpdcid", b.dpdcid, 4), v.number("nack_psn", b.nack_psn);
    v.number("timestamp", b.echo);
  } else if constexpr (std::is_same_v<Kind, TransportAck>) {
    v.header("aeth"), v.hex("syndrome", b.syndrome, 2), v.number("msn", b.msn);
  } else if constexpr (std::is_same_v<Kind, Probe>) {
    v.header("peth"), v.hex("vendor", b.vendor, 2), v.number("probe_id", b.probe_id);
    v.hex("spdcid", b.spdcid, 4), v.hex("dpdcid", b.dpdcid, 4), v.number("timestamp", b.timestamp);
  } else if constexpr (std::is_same_v<Kind, EndpointRequest>) {
    v.header("erth"), v.number("op", b.op), v.hex("vendor", b.vendor, 2);
    v.hex("port_status_mask", b.port_status, 8), v.number("timestamp", b.timestamp);
  } else {
    static_assert(std::is_same_v<Kind, EndpointResponse>);
    v.header("eeth"), v.number("op", b.op), v.number("timestamp", b.timestamp);
  }
}

/// BTH and what follows it. `P` is Packet or const Packet; the opcode is not among the fields: the kind of
/// body and its flags decide it (see empty_packet).
template <class P, class V>
void visit_fields(P& packet, V& v, Reached reached = Reached::everything) {
  v.header("bth"), v.hex("pkey", packet.pkey, 4), v.hex("destqp", packet.dqpn, 6),
      v.number("psn", packet.psn);
  if (auto* w = std::get_if<Write>(&packet.body)) {
    v.flag("se", w->solicited), v.flag("a", w->ack_request), v.flag("rtx", w->retransmitted);
    v.flag("ts", w->has_timestamp);
  }
  std::visit([&](auto& body) { visit_body(body, v, reached); }, packet.body);
}

/// A packet of this opcode with every field zero, or nothing when the opcode is not MRC's.
std::optional<Packet> empty_packet(std::uint8_t opcode);

}  // namespace mrc::wire
