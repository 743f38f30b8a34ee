// Arrivals: which packets are accepted, which are answered and how.
#include "engine/responder.h"

#include <algorithm>

#include "engine/sizes.h"

namespace mrc::engine {

using wire::Segment;

Responder::Responder(Qpn local, Qpn remote, Psn first, const QpLimits& limits,
                     const ResponderSettings& settings, const Narrator& say, const Congestion& congestion,
                     Incoming* incoming)
    : local_(local),
      remote_(remote),
      mtu_(limits.path_mtu),
      dynamic_mpr_(limits.dynamic_mpr),
      settings_(settings),
      say_(say),
      congestion_(congestion),
      expected_(incoming),
      window_(first, limits.mpr_dest * kMprUnit),
      stash_(limits.max_wimm_dest),
      receives_(limits.recv_depth),
      special_(kQueued),
      advertised_mpr_(limits.mpr_dest) {}

Verdict Responder::on_write(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope,
                            Memory& memory) {
  // MRC-RSP-004: a duplicate is never written again and always answered.
  if (window_.is_duplicate(psn)) {
    ++counters_.duplicates;
    count(write);
    plain_ = Trigger{.psn = psn, .ev = envelope.ev, .at = Ticks(now), .timestamp = write.timestamp};
    if (ends(write.segment) && !psn.after(window_.cack())) ack_due_ = true;
    return Verdict::duplicate;
  }
  // MRC-RSP-003: beyond (cack, cack + MPR] a packet is refused, by NACK or in silence.
  if (!window_.accepts(psn)) {
    ++counters_.out_of_window;
    if (settings_.out_of_window == WindowPolicy::nack)
      queue_nack(now, psn, write, envelope, wire::NackReason::psn_oor_window);
    return Verdict::out_of_window;
  }
  if (const auto fault = find_fault(write, memory)) {
    refuse(*fault);
    return *fault;
  }
  if (write.has_imm) {
    stash_.put(write.rqmsn, {.psn = psn.value() & 0xFFFF,
                             .msn = write.msn & Immediate::kMsnMask,
                             .solicited = write.solicited,
                             .imm = write.imm,
                             .length = write.dma_length});
  }
  const std::uint32_t executed = window_.messages();
  window_.note(psn, ends(write.segment));
  // MRC-RSP-010: only messages with everything before them count as executed.
  if (window_.messages() != executed) ack_due_ = true;
  ++counters_.packets;
  counters_.bytes += write.payload;
  expected_.announce(write.msn, write.dma_length);
  expected_.arrive(write.payload);
  count(write);
  consider_sack(now, psn, write, envelope);
  say_(now, PacketPlaced{psn, write.va, write.payload});
  return Verdict::ok;
}

// MRC-RSP-002: every check comes before placement; a failed one writes nothing and ends the QP.
std::optional<Verdict> Responder::find_fault(const wire::Write& write, Memory& memory) const {
  if (!length_fits(write)) return Verdict::bad_length;
  if (write.has_imm && !stash_.accepts(write.rqmsn)) return Verdict::too_many_wimm;
  if (write.dma_length == 0) return std::nullopt;  // touches no memory
  // The first packet answers for the whole message, the others for themselves.
  const std::uint32_t reach = starts(write.segment) ? write.dma_length : write.payload;
  switch (memory.check(write.rkey, write.va, reach)) {
    case Memory::Access::ok: return std::nullopt;
    case Memory::Access::bad_rkey: return Verdict::bad_rkey;
    case Memory::Access::no_access: return Verdict::no_access;
    case Memory::Access::out_of_bounds: return Verdict::out_of_bounds;
  }
  return Verdict::bad_rkey;
}

bool Responder::length_fits(const wire::Write& w) const {
  const std::uint32_t mtu = mtu_, rest = w.dma_length % mtu;
  switch (w.segment) {
    case Segment::first:
    case Segment::middle: return w.payload == mtu && w.dma_length > mtu;
    case Segment::last: return w.dma_length > mtu && w.payload == (rest == 0 ? mtu : rest);
    case Segment::only: return w.payload == w.dma_length && w.payload <= mtu;
  }
  return false;
}

void Responder::refuse(Verdict verdict) {
  if (fault_) return;
  fault_ = verdict;
  nak_due_ = true;
}

/// Everything that arrived counts, wanted or not: the sender takes it out of flight by this number.
void Responder::count(const wire::Write& write) { rcvd_bytes_ += cc_bytes(write); }

// MRC-RSP-005: a SACK is due by bytes since the last one, by the A bit, by ECN-CE, by a repaired packet.
void Responder::consider_sack(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope) {
  Trigger trigger{.psn = psn, .ev = envelope.ev, .at = Ticks(now), .timestamp = write.timestamp};
  if (envelope.ecn == wire::Ecn::ce) ++counters_.marks;
  if (leaving_.has(envelope.port))
    trigger.mark = wire::SackMark::always_skip;
  else if (envelope.ecn == wire::Ecn::ce)
    trigger.mark = wire::SackMark::skip_once;
  if (trigger.mark != wire::SackMark::none && special_.push(trigger)) return;

  unreported_ += std::max<std::uint32_t>(write.payload, settings_.sack_min_count);
  if (write.ack_request || write.retransmitted || unreported_ >= settings_.sack_bytes) plain_ = trigger;
}

// MRC-RSP-007: a trimmed packet is reported at once, by class, if both sides agreed to that.
Verdict Responder::on_trimmed(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope) {
  ++counters_.trims;
  // What arrived shows the sender what fits: after a trim it should not wait for the threshold to hear of it.
  if (settings_.sack_after_trim) unreported_ = settings_.sack_bytes;
  if (window_.is_duplicate(psn)) {
    plain_ = Trigger{.psn = psn, .ev = envelope.ev, .at = Ticks(now), .timestamp = write.timestamp};
    return Verdict::duplicate;
  }
  if (!window_.accepts(psn)) return Verdict::trimmed_ok;
  expected_.announce(write.msn, write.dma_length);
  if (!settings_.trim_nack) return Verdict::trimmed_ok;
  const bool last_hop = envelope.traffic_class == wire::TrafficClass::trimmed_lasthop;
  queue_nack(now, psn, write, envelope,
             last_hop ? wire::NackReason::trimmed_lasthop : wire::NackReason::trimmed);
  return Verdict::trimmed_ok;
}

void Responder::on_probe(Time now, const wire::Probe& probe, const wire::Envelope& envelope) {
  const bool queued = special_.push({.psn = window_.cack(),
                                     .ev = envelope.ev,
                                     .at = Ticks(now),
                                     .timestamp = probe.timestamp,
                                     .probe_id = probe.probe_id,
                                     .probe = true});
  // A prober may be waiting for a Transport ACK that got lost.
  if (queued && window_.messages() > 0) ack_due_ = true;
}

void Responder::queue_nack(Time now, Psn psn, const wire::Write& write, const wire::Envelope& envelope,
                           wire::NackReason reason) {
  // A full queue drops it: the requestor infers the loss.
  (void)special_.push({.psn = psn,
                       .ev = envelope.ev,
                       .at = Ticks(now),
                       .timestamp = write.timestamp,
                       .nack = true,
                       .reason = reason});
}

}  // namespace mrc::engine
