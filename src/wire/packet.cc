#include "wire/packet.h"

namespace mrc::wire {
namespace {

struct OpcodeOf {
  Opcode operator()(const Write& w) const {
    switch (w.segment) {
      case Segment::first: return Opcode::write_first;
      case Segment::middle: return Opcode::write_middle;
      case Segment::last: return w.has_imm ? Opcode::write_last_imm : Opcode::write_last;
      case Segment::only: return w.has_imm ? Opcode::write_only_imm : Opcode::write_only;
    }
    return Opcode::write_only;
  }
  Opcode operator()(const Sack&) const { return Opcode::sack; }
  Opcode operator()(const Nack&) const { return Opcode::nack; }
  Opcode operator()(const TransportAck&) const { return Opcode::transport_ack; }
  Opcode operator()(const Probe&) const { return Opcode::probe; }
  Opcode operator()(const EndpointRequest&) const { return Opcode::endpoint_request; }
  Opcode operator()(const EndpointResponse&) const { return Opcode::endpoint_response; }
};

}  // namespace

Opcode Packet::opcode() const {
  if (const auto* w = std::get_if<Write>(&body)) return OpcodeOf{}(*w);  // nearly always
  return std::visit(OpcodeOf{}, body);
}

}  // namespace mrc::wire
