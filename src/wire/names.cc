// The words of wire's enums, and packets by opcode.
#include <array>

#include "wire/fields.h"
#include "wire/print.h"

namespace mrc::wire {

std::string_view name(Opcode opcode) {
  switch (opcode) {
    case Opcode::write_first: return "write_first";
    case Opcode::write_middle: return "write_middle";
    case Opcode::write_last: return "write_last";
    case Opcode::write_last_imm: return "write_last_imm";
    case Opcode::write_only: return "write_only";
    case Opcode::write_only_imm: return "write_only_imm";
    case Opcode::transport_ack: return "transport_ack";
    case Opcode::endpoint_request: return "endpoint_request";
    case Opcode::endpoint_response: return "endpoint_response";
    case Opcode::sack: return "sack";
    case Opcode::nack: return "nack";
    case Opcode::probe: return "probe";
  }
  return "unknown";
}

std::string_view name(NackReason reason) {
  switch (reason) {
    case NackReason::trimmed: return "trimmed";
    case NackReason::trimmed_lasthop: return "trimmed_lasthop";
    case NackReason::no_bitmap: return "no_bitmap";
    case NackReason::no_pkt_buffer: return "no_pkt_buffer";
    case NackReason::no_resource: return "no_resource";
    case NackReason::psn_oor_window: return "psn_oor_window";
    case NackReason::unexp_event: return "unexp_event";
  }
  return "unknown";
}

std::string_view name(Syndrome syndrome) {
  switch (syndrome) {
    case Syndrome::ack: return "ack";
    case Syndrome::invalid_request: return "invalid_request";
    case Syndrome::remote_access_error: return "remote_access_error";
    case Syndrome::remote_operational_error: return "remote_operational_error";
  }
  return "unknown";
}

namespace {

template <std::size_t N, class E>
std::string_view pick(const std::array<std::string_view, N>& words, E e) {
  const auto i = static_cast<std::size_t>(e);
  return i < N ? words[i] : "unknown";
}

}  // namespace

std::string_view name(SackMark mark) {
  return pick(std::to_array<std::string_view>({"none", "skip_once", "always_skip"}), mark);
}
std::string_view name(EndpointOp op) {
  return pick(std::to_array<std::string_view>({"port_status_update", "ev_probe"}), op);
}
std::string_view name(TrafficClass c) {
  return pick(std::to_array<std::string_view>(
                  {"no_trim", "trimmable", "trimmable_retx", "control", "trimmed", "trimmed_lasthop"}),
              c);
}
std::string_view name(Ecn ecn) {
  return pick(std::to_array<std::string_view>({"not_ect", "ect1", "ect0", "ce"}), ecn);
}
std::string_view name(Encapsulation e) {
  return pick(std::to_array<std::string_view>({"datagram", "ipv4", "ipv6", "srv6", "srv6_srh"}), e);
}
std::string_view name(Reached r) {
  return pick(
      std::to_array<std::string_view>({"nothing", "ip", "udp", "bth", "meth", "tseth", "reth", "everything"}),
      r);
}

std::optional<Packet> empty_packet(std::uint8_t opcode) {
  Packet packet;
  packet.pkey = 0;
  const auto write = [&](Segment segment, bool imm) {
    Write w;
    w.segment = segment;
    w.has_imm = imm;
    packet.body = w;
    return packet;
  };
  switch (Opcode{opcode}) {
    case Opcode::write_first: return write(Segment::first, false);
    case Opcode::write_middle: return write(Segment::middle, false);
    case Opcode::write_last: return write(Segment::last, false);
    case Opcode::write_last_imm: return write(Segment::last, true);
    case Opcode::write_only: return write(Segment::only, false);
    case Opcode::write_only_imm: return write(Segment::only, true);
    case Opcode::transport_ack: return packet.body = TransportAck{}, packet;
    case Opcode::sack: return packet.body = Sack{}, packet;
    case Opcode::nack: return packet.body = Nack{}, packet;
    case Opcode::probe: return packet.body = Probe{}, packet;
    case Opcode::endpoint_request: return packet.body = EndpointRequest{}, packet;
    case Opcode::endpoint_response: return packet.body = EndpointResponse{}, packet;
  }
  return std::nullopt;
}

}  // namespace mrc::wire
