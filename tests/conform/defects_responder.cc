// What can be wrong with a responder, one defect at a time.
#include <algorithm>

#include "twin.h"

namespace mrc::conform {
namespace {

using wire::Nack;
using wire::Probe;
using wire::Sack;
using wire::TransportAck;
using wire::Write;

bool is_answer(std::uint8_t opcode) { return opcode == 0xD1 || opcode == 0xDC || opcode == 0xDD; }

/// Changes each packet with such a body, and loses none.
template <class Body>
std::function<bool(Twin&, Passing&)> each(void (*change)(Passing&, Body&)) {
  return [change](Twin&, Passing& p) {
    if (Body* body = p.as<Body>()) change(p, *body);
    return true;
  };
}

/// Loses those that it says.
template <class Body>
std::function<bool(Twin&, Passing&)> lose(bool (*which)(const Passing&, const Body&)) {
  return [which](Twin&, Passing& p) {
    const Body* body = p.as<Body>();
    return body == nullptr || !which(p, *body);
  };
}

bool only_low_views(Twin& twin, Passing& p) {
  Sack* sack = p.as<Sack>();
  if (sack == nullptr) return true;
  if (sack->sack_offset <= 1)
    twin.low = *sack;
  else
    sack->sack_offset = 1, sack->bitmap = twin.low.bitmap;
  return true;
}

bool early_ack(Twin& twin, Passing& p) {
  const Write* write = p.as<Write>();
  if (write == nullptr || write->msn == 0 || p.seen) return true;
  Passing ack{{.dqpn = Qpn(0x1234), .psn = p.packet.psn, .body = TransportAck{.msn = 1}}, p.around, {}};
  std::swap(ack.around.source, ack.around.destination);
  twin.inject(ack);
  return true;
}

bool early_immediate(Twin& twin, Passing& p) {
  const Write* write = p.as<Write>();
  if (write != nullptr && write->has_imm && !p.seen)
    twin.early.push_back({.receive = true, .has_imm = true, .imm = write->imm});
  return true;
}

void only_early_receives(Twin& twin, std::vector<Completed>& done) {
  std::erase_if(done, [](const Completed& c) { return c.receive && c.has_imm; });
  done.insert(done.end(), twin.early.begin(), twin.early.end());
  twin.early.clear();
}

bool second_immediate(Twin& twin, Passing& p) {
  const Write* write = p.as<Write>();
  if (write != nullptr && write->has_imm && p.seen)
    twin.early.push_back({.receive = true, .has_imm = true, .imm = write->imm});
  return true;
}

void add_early(Twin& twin, std::vector<Completed>& done) {
  done.insert(done.end(), twin.early.begin(), twin.early.end());
  twin.early.clear();
}

bool place_again(Twin& twin, Passing& p) {
  const Write* write = p.as<Write>();
  if (write != nullptr && p.seen && write->retransmitted) twin.scribble(write->va, p.payload);
  return true;
}

bool place_trimmed(Twin& twin, Passing& p) {
  const Write* write = p.as<Write>();
  if (write != nullptr && p.trimmed && write->va != 0)
    twin.scribble(write->va,
                  std::vector<std::uint8_t>(
                      64, static_cast<std::uint8_t>(std::to_integer<unsigned>(twin.bytes()[0]) + 1)));
  return true;
}

bool ignore_key(Twin& twin, Passing& p) {
  if (Write* write = p.as<Write>()) write->rkey = twin.rkey();
  return true;
}

bool ignore_bounds(Twin& twin, Passing& p) {
  Write* write = p.as<Write>();
  const std::uint64_t end = twin.va() + (1 << 20);
  if (write != nullptr && write->va + write->payload > end) write->va = end - write->payload;
  return true;
}

std::vector<Defect> format_defects() {
  return {
      {.name = "wrong icrc of answers",
       .check = "icrc_of_answers",
       .raw_out = [](auto& b, auto&) { b.back() ^= is_answer(b[0]) ? 1 : 0; }},
      {.name = "takes any icrc", .check = "icrc_is_checked", .raw_in = mend_icrc},
      {.name = "reserved byte set",
       .check = "reserved_bits",
       .raw_out =
           [](auto& b, auto& around) {
             if (b[0] == 0xDC) b[24] = 1, mend_icrc(b, around);
           }},
      {.name = "takes opcode 0xC0 for a write",
       .check = "unknown_opcode",
       .raw_in =
           [](auto& b, auto& around) {
             if (b[0] == 0xC0) b[0] = 0xCA, mend_icrc(b, around);
           }},
      {.name = "takes any transport version",
       .check = "other_version",
       .raw_in =
           [](auto& b, auto& around) {
             if ((b[1] & 0xF) == 1) b[1] &= 0xF0, mend_icrc(b, around);
           }},
      {.name = "answers in the data class",
       .check = "control_class",
       .out = each<Sack>([](Passing& p, Sack&) { p.set_class(wire::TrafficClass::trimmable); })},
      {.name = "sack with another bth psn",
       .check = "sack_psn",
       .raw_out =
           [](auto& b, auto& around) {
             if (b[0] == 0xDC) b[11] ^= 1, mend_icrc(b, around);
           }},
      {.name = "nack with another bth psn",
       .check = "nack_psn",
       .raw_out =
           [](auto& b, auto& around) {
             if (b[0] == 0xDD) b[11] ^= 1, mend_icrc(b, around);
           }},
      {.name = "another request id",
       .check = "ev_probe",
       .out = each<wire::EndpointResponse>([](Passing& p, wire::EndpointResponse& r) {
         if (r.op == wire::EndpointOp::ev_probe) ++p.packet.psn;
       })},
      {.name = "ignores port status",
       .check = "port_status",
       .in = lose<wire::EndpointRequest>([](const Passing&, const wire::EndpointRequest& r) {
         return r.op == wire::EndpointOp::port_status_update;
       })},
  };
}

std::vector<Defect> sack_defects() {
  return {
      {.name = "ignores the A bit", .check = "sack_on_request", .in = each<Write>([](Passing&, Write& w) {
                                                                  w.ack_request = false;
                                                                })},
      {.name = "ignores rtx", .check = "sack_on_repair", .in = each<Write>([](Passing&, Write& w) {
                                                           w.retransmitted = false;
                                                         })},
      {.name = "ignores CE", .check = "sack_on_mark", .in = each<Write>([](Passing& p, Write&) {
                                                        p.around.traffic_class &= 0xFE;
                                                      })},
      {.name = "ignores probes",
       .check = "sack_on_probe",
       .in = lose<Probe>([](const Passing&, const Probe&) { return true; })},
      {.name = "another probe id", .check = "sack_on_probe", .out = each<Sack>([](Passing&, Sack& s) {
                                                               if (s.probe_reply) ++s.ack_psn_offset;
                                                             })},
      {.name = "no sack by bytes",
       .check = "sack_by_bytes",
       .adjust = [](auto& c, auto&, auto&) { c.responder.sack_bytes = 1 << 30; }},
      {.name = "bitmap off by one", .check = "sack_bitmap", .out = each<Sack>([](Passing&, Sack& s) {
                                                              s.bitmap <<= 1;
                                                            })},
      {.name = "another trigger", .check = "sack_trigger", .out = each<Sack>([](Passing&, Sack& s) {
                                                             if (!s.probe_reply) ++s.ack_psn_offset;
                                                           })},
      {.name = "no ev echo", .check = "ev_echo", .out = each<Sack>([](Passing&, Sack& s) {
                                                   s.entropy = Ev(0);
                                                 })},
      {.name = "no timestamp echo", .check = "timestamp_echo", .out = each<Sack>([](Passing&, Sack& s) {
                                                                 s.echo = {};
                                                               })},
      {.name = "counts half the bytes",
       .check = "sack_counts_bytes",
       .out = each<Sack>([](Passing&, Sack& s) { s.rcvd_bytes /= 2; })},
      {.name = "reports the lowest hole only", .check = "sack_alternates", .out = only_low_views},
  };
}

std::vector<Defect> window_defects() {
  using wire::NackReason;
  return {
      {.name = "window too short",
       .check = "window_edge",
       .adjust = [](auto& c, auto&, auto&) { c.mpr_dest = 7; }},
      {.name = "window too long",
       .check = "window_beyond",
       .adjust = [](auto& c, auto&, auto&) { c.mpr_dest = 9; }},
      {.name = "ignores duplicates",
       .check = "duplicate_answered",
       .in = lose<Write>([](const Passing& p, const Write&) { return p.seen; })},
      {.name = "places duplicates", .check = "duplicate_not_placed", .in = place_again},
      {.name = "ignores trims", .check = "trim_fabric", .in = lose<Write>([](const Passing& p, const Write&) {
                                                          return p.trimmed &&
                                                                 p.around.traffic_class >> 2 ==
                                                                     wire::Settings{}.dscp_trimmed;
                                                        })},
      {.name = "does not know the last hop",
       .check = "trim_lasthop",
       .out = each<Nack>([](Passing&, Nack& n) {
         if (n.reason == NackReason::trimmed_lasthop) n.reason = NackReason::trimmed;
       })},
      {.name = "places trimmed packets", .check = "trim_not_placed", .in = place_trimmed},
  };
}

std::vector<Defect> message_defects() {
  using wire::Syndrome;
  return {
      {.name = "ignores the key", .check = "wrong_key", .in = ignore_key},
      {.name = "ignores bounds", .check = "out_of_bounds", .in = ignore_bounds},
      {.name = "another nak",
       .check = "short_first",
       .out = each<TransportAck>([](Passing&, TransportAck& a) {
         if (a.syndrome == Syndrome::invalid_request) a.syndrome = Syndrome::remote_access_error;
       })},
      {.name = "makes up receives",
       .check = "no_receive",
       .adjust = [](auto&, auto&, Terms& t) { t.receives = 64; }},
      {.name = "takes too many immediates",
       .check = "too_many_immediates",
       .adjust = [](auto& c, auto&, auto&) { c.max_wimm_dest = 64; }},
      {.name = "misplaces", .check = "placed_by_reth", .in = each<Write>([](Passing&, Write& w) {
                                                         w.va += starts(w.segment) ? 0 : 4;
                                                       })},
      {.name = "loses empty writes",
       .check = "empty_write",
       .in = lose<Write>([](const Passing&, const Write& w) { return w.dma_length == 0; })},
      {.name = "acknowledges early", .check = "ack_counts_executed", .in = early_ack},
      {.name = "completes immediates on arrival",
       .check = "immediates_in_order",
       .in = early_immediate,
       .completions = only_early_receives},
      {.name = "completes immediates backwards",
       .check = "immediates_in_order",
       .completions =
           [](Twin&, auto& done) {
             if (!done.empty() && done[0].has_imm) std::reverse(done.begin(), done.end());
           }},
      {.name = "completes a repeated immediate",
       .check = "immediate_once",
       .in = second_immediate,
       .completions = add_early},
  };
}

}  // namespace

std::vector<Defect> responder_defects() {
  std::vector<Defect> all;
  for (const auto& some : {format_defects(), sack_defects(), window_defects(), message_defects()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace mrc::conform
