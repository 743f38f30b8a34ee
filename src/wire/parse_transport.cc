// From BTH to iCRC: bytes to a packet value.
#include "wire/aeth.h"
#include "wire/bth.h"
#include "wire/eeth.h"
#include "wire/erth.h"
#include "wire/icrc.h"
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

struct WriteShape {
  Segment segment;
  bool imm;
};
WriteShape shape_of(std::uint8_t opcode) {
  switch (Opcode{opcode}) {
    case Opcode::write_first: return {Segment::first, false};
    case Opcode::write_middle: return {Segment::middle, false};
    case Opcode::write_last: return {Segment::last, false};
    case Opcode::write_last_imm: return {Segment::last, true};
    case Opcode::write_only_imm: return {Segment::only, true};
    default: return {Segment::only, false};
  }
}

/// METH, TSETH, RETH and ImmDt, as far as `rest` reaches; `rest` keeps what lies behind them.
Verdict parse_write_headers(const BthView& bth, const Settings& settings, Bytes& rest, Write& w,
                            Reached& reached) {
  const WriteShape shape = shape_of(bth.opcode());
  w.segment = shape.segment;
  w.has_imm = shape.imm;
  w.has_timestamp = bth.ts();
  w.solicited = bth.solicited(settings.bth_flags);
  w.ack_request = bth.ack_request();
  w.retransmitted = bth.rtx();

  const MethView meth(rest);
  if (!meth) return Verdict::too_short;
  w.rqmsn = meth.rqmsn();
  w.msn = meth.msn();
  rest = rest.subspan(MethView::kSize);
  reached = Reached::meth;
  // MRC-WIRE-011: a TSETH follows METH exactly when BTH's ts bit is set.
  if (bth.ts()) {
    const TsethView tseth(rest);
    if (!tseth) return Verdict::too_short;
    if (const Verdict v = tseth.check(); v != Verdict::ok) return v;
    w.timestamp = tseth.timestamp();
    rest = rest.subspan(TsethView::kSize);
    reached = Reached::tseth;
  }
  // MRC-WIRE-012: every write packet has a RETH, with the address of its own first byte.
  const RethView reth(rest);
  if (!reth) return Verdict::too_short;
  w.va = reth.va();
  w.rkey = reth.rkey();
  w.dma_length = reth.dma_length();
  rest = rest.subspan(RethView::kSize);
  reached = Reached::reth;
  if (shape.imm) {
    const ImmDtView immdt(rest);
    if (!immdt) return Verdict::too_short;
    w.imm = immdt.imm();
    rest = rest.subspan(ImmDtView::kSize);
  }
  reached = Reached::everything;
  return Verdict::ok;
}

/// `rest`: what follows BTH, the iCRC taken off (unless the packet ends early).
Verdict parse_write(const BthView& bth, Bytes rest, Ending ending, const Settings& settings, Parsed& out) {
  Write& w = out.packet.body.emplace<Write>();
  const Verdict v = parse_write_headers(bth, settings, rest, w, out.reached);
  // MRC-WIRE-052: as far as it reaches is enough, and no payload of it may be placed.
  if (ending != Ending::whole) return v == Verdict::too_short ? Verdict::ok : v;
  if (v != Verdict::ok) return v;
  // MRC-WIRE-005: payload and padding fill whole words, and only the packet that ends a message may need
  // padding.
  const std::size_t pad = bth.pad();
  if (rest.size() % 4 != 0 || pad > rest.size() || (pad != 0 && !ends(w.segment))) return Verdict::bad_pad;
  out.payload = rest.first(rest.size() - pad);
  w.payload = static_cast<std::uint16_t>(out.payload.size());
  return Verdict::ok;
}

/// Checks and takes a body of fixed size that fills its packet; Extra goes to the view's check() and value().
template <class HeaderView, class... Extra>
Verdict parse_fixed(const BthView& bth, Bytes rest, Ending ending, Parsed& out, const Extra&... extra) {
  const HeaderView view(rest);
  if (!view) return Verdict::too_short;
  // MRC-WIRE-006: nothing but writes has a payload.
  if (ending == Ending::whole && rest.size() != HeaderView::kSize) return Verdict::length_mismatch;
  if (bth.pad() != 0) return Verdict::bad_pad;
  if (const Verdict v = view.check(extra...); v != Verdict::ok) return v;
  out.packet.body = view.value(extra...);
  out.reached = Reached::everything;
  return Verdict::ok;
}

// MRC-WIRE-020, MRC-WIRE-021: BTH.PSN repeats the cumulative PSN of a SACK and the PSN of a NACK.
Verdict check_psn(Verdict so_far, Psn own, const BthView& bth, const Settings& settings) {
  if (so_far != Verdict::ok || !settings.check_control_psn || own == bth.psn()) return so_far;
  return Verdict::bad_field;
}

Verdict parse_sack(const BthView& bth, Bytes rest, Ending ending, const Settings& settings, Parsed& out) {
  const Verdict v = parse_fixed<SethView>(bth, rest, ending, out);
  return v == Verdict::ok ? check_psn(v, std::get_if<Sack>(&out.packet.body)->cack_psn, bth, settings) : v;
}

Verdict parse_nack(const BthView& bth, Bytes rest, Ending ending, const Settings& settings, Parsed& out) {
  const Verdict v = parse_fixed<NethView>(bth, rest, ending, out);
  return v == Verdict::ok ? check_psn(v, std::get_if<Nack>(&out.packet.body)->nack_psn, bth, settings) : v;
}

Verdict parse_body(const BthView& bth, Bytes rest, Ending ending, const Settings& settings, Parsed& out) {
  const bool to_endpoint = bth.dqpn() == kEndpointQpn;
  switch (Opcode{bth.opcode()}) {
    case Opcode::write_first:
    case Opcode::write_middle:
    case Opcode::write_last:
    case Opcode::write_last_imm:
    case Opcode::write_only:
    case Opcode::write_only_imm: return parse_write(bth, rest, ending, settings, out);
    case Opcode::transport_ack: return parse_fixed<AethView>(bth, rest, ending, out);
    case Opcode::sack: return parse_sack(bth, rest, ending, settings, out);
    case Opcode::nack: return parse_nack(bth, rest, ending, settings, out);
    case Opcode::probe: return parse_fixed<PethView>(bth, rest, ending, out);
    // MRC-WIRE-024: endpoint operations are addressed to QP 2.
    case Opcode::endpoint_request:
      return to_endpoint ? parse_fixed<ErthView>(bth, rest, ending, out) : Verdict::bad_field;
    case Opcode::endpoint_response:
      return to_endpoint ? parse_fixed<EethView>(bth, rest, ending, out, settings) : Verdict::bad_field;
  }
  // MRC-WIRE-003: any other opcode is refused.
  return Verdict::unknown_opcode;
}

}  // namespace

Verdict parse_transport(Bytes udp_payload, const Datagram& around, Ending ending, const Settings& settings,
                        Parsed& out) {
  const BthView bth(udp_payload);
  const bool trimmed = ending == Ending::trimmed;
  const Verdict short_verdict = trimmed ? Verdict::trimmed_too_short : Verdict::too_short;
  if (!bth) return short_verdict;
  Bytes rest = udp_payload.subspan(Bth::kSize);
  if (ending == Ending::whole) {
    if (rest.size() < kIcrcSize) return Verdict::too_short;
    rest = rest.first(rest.size() - kIcrcSize);
    // MRC-WIRE-040: the iCRC is looked at first: a packet that fails it says nothing, not even its opcode.
    const std::uint8_t* stored = rest.data() + rest.size();
    if (settings.check_icrc && !icrc_of(around, udp_payload).matches(stored)) return Verdict::bad_icrc;
  }
  if (bth.tver() != 0) return Verdict::bad_tver;
  out.packet.dqpn = bth.dqpn();
  out.packet.psn = bth.psn();
  out.packet.pkey = bth.pkey();
  out.opcode = bth.opcode();
  out.reached = Reached::bth;
  const Verdict v = parse_body(bth, rest, ending, settings, out);
  if (v == Verdict::too_short) return short_verdict;
  // MRC-WIRE-050: a trimmed packet is known by its class and good as far as its PSN.
  return v == Verdict::ok && trimmed ? Verdict::trimmed_ok : v;
}

}  // namespace mrc::wire
