// An MRC packet as a value: what the transport says, free of bytes, byte order and the network around it.
//
// The engine takes and gives these values; the codec (wire/codec.h) turns them into bytes and back at the edge,
// and the simulator carries them as they are. Field names and meanings are the specification's.
#pragma once

#include <cstdint>
#include <variant>

#include "base/ids.h"
#include "base/psn.h"

namespace mrc::wire {

enum class Opcode : std::uint8_t {
  write_first = 0xC6,
  write_middle = 0xC7,
  write_last = 0xC8,
  write_last_imm = 0xC9,
  write_only = 0xCA,
  write_only_imm = 0xCB,
  transport_ack = 0xD1,
  endpoint_request = 0xD8,
  endpoint_response = 0xD9,
  sack = 0xDC,
  nack = 0xDD,
  probe = 0xDE,
};

/// Where a packet stands in its message.
enum class Segment : std::uint8_t { first, middle, last, only };
constexpr bool starts(Segment s) { return s == Segment::first || s == Segment::only; }
constexpr bool ends(Segment s) { return s == Segment::last || s == Segment::only; }

/// 16 bits of time in 128 ns ticks. It wraps every 8.4 ms; differences are taken modulo 2^16.
struct Timestamp {
  std::uint16_t ticks = 0;
  bool operator==(const Timestamp&) const = default;
};

/// One packet of an RDMA write. It carries its own address, so it can be placed whenever it arrives.
struct Write {
  std::uint64_t va = 0;            // RETH: address of this packet's first byte
  RKey rkey;
  std::uint32_t dma_length = 0;    // of the whole message
  std::uint32_t imm = 0;           // valid when has_imm, which only a packet that ends its message may have
  std::uint16_t payload = 0;       // payload bytes in this packet, padding not counted
  std::uint16_t rqmsn = 0;
  std::uint16_t msn = 0;
  Timestamp timestamp;             // valid when has_timestamp
  Segment segment = Segment::only;
  bool has_imm = false;
  bool has_timestamp = false;
  bool solicited = false;
  bool ack_request = false;
  bool retransmitted = false;      // BTH rtx
  bool operator==(const Write&) const = default;
};

enum class SackMark : std::uint8_t { none = 0, skip_once = 1, always_skip = 2 };

/// "These packets arrived": a cumulative PSN, a 64-bit window of the rest, and congestion state.
struct Sack {
  std::uint64_t bitmap = 0;        // bit i is PSN cack_psn + sack_offset + i
  Ev entropy;                      // EV of the packet that triggered this SACK
  Psn cack_psn;
  std::uint32_t rcvd_bytes = 0;    // 24 bits, units of 256 bytes, rounded up
  std::int16_t ack_psn_offset = 0;  // from cack_psn to the trigger; the probe id when probe_reply
  std::int16_t sack_offset = 0;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  Timestamp echo;
  std::uint16_t ooo_count = 0;     // 15 bits
  std::uint8_t mpr = 0;            // units of 128 PSNs; 0 while dynamic MPR is off
  std::uint8_t rcv_cwnd_pen = 0;   // 7 bits
  SackMark mark = SackMark::none;
  bool probe_reply = false;
  bool restore_cwnd = false;
  bool operator==(const Sack&) const = default;
};

enum class NackReason : std::uint8_t {
  trimmed = 0x01,
  trimmed_lasthop = 0x02,
  no_bitmap = 0x06,
  no_pkt_buffer = 0x07,
  no_resource = 0x0A,
  psn_oor_window = 0x0B,
  unexp_event = 0x19,
};

struct Nack {
  Ev entropy;
  Psn nack_psn;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  Timestamp echo;
  NackReason reason = NackReason::trimmed;
  std::uint8_t vendor = 0;
  bool operator==(const Nack&) const = default;
};

/// AETH syndromes that MRC uses; the credit field of an ACK is 0x1F (no credits).
enum class Syndrome : std::uint8_t {
  ack = 0x1F,
  invalid_request = 0x61,
  remote_access_error = 0x62,
  remote_operational_error = 0x63,
};

/// "This message was executed", or why not. `msn` is the number of messages completed so far (24 bits).
struct TransportAck {
  std::uint32_t msn = 0;
  Syndrome syndrome = Syndrome::ack;
  bool operator==(const TransportAck&) const = default;
};

/// "Does this path work?" Consumes no PSN; answered by a SACK with probe_reply.
struct Probe {
  std::uint16_t probe_id = 0;
  std::uint16_t spdcid = 0;
  std::uint16_t dpdcid = 0;
  Timestamp timestamp;
  std::uint8_t vendor = 0;
  bool operator==(const Probe&) const = default;
};

enum class EndpointOp : std::uint8_t { port_status_update = 0, ev_probe = 1 };

/// Node to node, addressed to QP 2; the request id travels in PSN[15:0] and comes back.
struct EndpointRequest {
  EndpointOp op = EndpointOp::ev_probe;
  PortMask port_status;            // bit N set: port N is up
  Timestamp timestamp;
  std::uint8_t vendor = 0;
  bool operator==(const EndpointRequest&) const = default;
};
struct EndpointResponse {
  EndpointOp op = EndpointOp::ev_probe;
  Timestamp timestamp;
  bool operator==(const EndpointResponse&) const = default;
};

using Body = std::variant<Write, Sack, Nack, TransportAck, Probe, EndpointRequest, EndpointResponse>;

inline constexpr std::uint16_t kDefaultPkey = 0xFFFF;

struct Packet {
  Qpn dqpn;
  Psn psn;                         // SACK: cack_psn. NACK: nack_psn. Endpoint operations: request id
  std::uint16_t pkey = kDefaultPkey;
  Body body;

  Opcode opcode() const;
  bool operator==(const Packet&) const = default;
};
static_assert(sizeof(Packet) <= 64, "the simulator moves packets by value: one cache line");

enum class Ecn : std::uint8_t { not_ect = 0, ect1 = 1, ect0 = 2, ce = 3 };
enum class TrafficClass : std::uint8_t { no_trim, trimmable, trimmable_retx, control, trimmed, trimmed_lasthop };

/// What the network adds to a packet: which path it takes or took, and what happened to it on the way.
struct Envelope {
  Ev ev;
  PortId port;                     // local port: to leave by, or arrived at
  TrafficClass traffic_class = TrafficClass::trimmable;
  Ecn ecn = Ecn::ect0;
  bool operator==(const Envelope&) const = default;
};
constexpr bool is_trimmed(TrafficClass c) {
  return c == TrafficClass::trimmed || c == TrafficClass::trimmed_lasthop;
}

}  // namespace mrc::wire
