// From a packet value to BTH and the headers after it.
#include "wire/aeth.h"
#include "wire/bth.h"
#include "wire/eeth.h"
#include "wire/erth.h"
#include "wire/immdt.h"
#include "wire/meth.h"
#include "wire/neth.h"
#include "wire/peth.h"
#include "wire/reth.h"
#include "wire/seth.h"
#include "wire/transport.h"
#include "wire/tseth.h"

namespace mrc::wire {
namespace {

std::size_t size_after_bth(const Write& w) {
  return Meth::kSize + (w.has_timestamp ? TsethView::kSize : 0) + Reth::kSize +
         (w.has_imm ? ImmDt::kSize : 0);
}
std::size_t size_after_bth(const Sack&) { return SethView::kSize; }
std::size_t size_after_bth(const Nack&) { return NethView::kSize; }
std::size_t size_after_bth(const TransportAck&) { return AethView::kSize; }
std::size_t size_after_bth(const Probe&) { return PethView::kSize; }
std::size_t size_after_bth(const EndpointRequest&) { return ErthView::kSize; }
std::size_t size_after_bth(const EndpointResponse&) { return EethView::kSize; }

/// One call per kind of packet: completes `bth` and writes what follows it.
struct EmitBody {
  Bth& bth;
  const Settings& settings;
  std::uint8_t* out;  // just behind BTH

  void operator()(const Write& w) const {
    bth.solicited = w.solicited;
    bth.ack_request = w.ack_request;
    bth.rtx = w.retransmitted;
    bth.ts = w.has_timestamp;
    std::uint8_t* at = out;
    emit(Meth{w.rqmsn, w.msn}, at);
    at += Meth::kSize;
    if (w.has_timestamp) {
      emit(w.timestamp, at);
      at += TsethView::kSize;
    }
    emit(Reth{w.va, w.rkey, w.dma_length}, at);
    if (w.has_imm) emit(ImmDt{w.imm}, at + Reth::kSize);
  }
  void operator()(const Sack& s) const {
    bth.psn = s.cack_psn;  // MRC-WIRE-020
    emit(s, out);
  }
  void operator()(const Nack& n) const {
    bth.psn = n.nack_psn;  // MRC-WIRE-021
    emit(n, settings, out);
  }
  void operator()(const Probe& p) const { emit(p, settings, out); }
  void operator()(const TransportAck& a) const { emit(a, out); }
  void operator()(const EndpointRequest& r) const {
    bth.dqpn = kEndpointQpn;  // MRC-WIRE-024
    emit(r, out);
  }
  void operator()(const EndpointResponse& r) const {
    bth.dqpn = kEndpointQpn;
    emit(r, settings, out);
  }
};

}  // namespace

std::size_t header_size(const Packet& packet) {
  if (const auto* w = std::get_if<Write>(&packet.body))
    return Bth::kSize + size_after_bth(*w);  // nearly always
  return Bth::kSize + std::visit([](const auto& body) { return size_after_bth(body); }, packet.body);
}

void emit_transport(const Packet& packet, std::size_t payload, const Settings& settings, std::uint8_t* out) {
  Bth bth{packet.opcode(), pad_for(payload), packet.pkey, packet.dqpn, packet.psn};
  bth.migration = settings.bth_migration;
  const EmitBody emit_body{bth, settings, out + Bth::kSize};
  if (const auto* w = std::get_if<Write>(&packet.body)) {
    emit_body(*w);
  } else {
    std::visit(emit_body, packet.body);
  }
  emit(bth, settings.bth_flags, out);
}

}  // namespace mrc::wire
