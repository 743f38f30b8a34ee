// What can be wrong with a requestor, one defect at a time.
#include <algorithm>

#include "twin.h"

namespace mrc::conform {
namespace {

using wire::Nack;
using wire::Probe;
using wire::Sack;
using wire::TrafficClass;
using wire::Write;

template <class Body>
std::function<bool(Twin&, Passing&)> each(void (*change)(Twin&, Passing&, Body&)) {
  return [change](Twin& twin, Passing& p) {
    if (Body* body = p.as<Body>()) change(twin, p, *body);
    return true;
  };
}

template <class Body>
std::function<bool(Twin&, Passing&)> lose(bool (*which)(const Twin&, const Passing&, const Body&)) {
  return [which](Twin& twin, Passing& p) {
    const Body* body = p.as<Body>();
    return body == nullptr || !which(twin, p, *body);
  };
}

/// The first hole that a SACK shows is sent again, whatever its path says.
bool repair_any_hole(Twin& twin, Passing& p) {
  const Sack* sack = p.as<Sack>();
  if (sack == nullptr || sack->bitmap == 0 || twin.once) return true;
  const auto hole = twin.first_sent.find((sack->cack_psn + 1).value());
  if (hole == twin.first_sent.end()) return true;
  Passing again = hole->second;
  again.as<Write>()->retransmitted = true;
  twin.inject(again);
  twin.once = true;
  return true;
}

bool complete_on_sack(Twin& twin, Passing& p) {
  const Sack* sack = p.as<Sack>();
  if (sack == nullptr || sack->probe_reply) return true;
  for (const PostedWrite& w : twin.posted) {
    if (twin.settled.insert(w.id).second) twin.early.push_back({.id = w.id});
  }
  return true;
}

void completed_on_sack(Twin& twin, std::vector<Completed>& done) {
  std::erase_if(done, [&](const Completed& c) { return !c.receive && twin.settled.count(c.id) > 0; });
  done.insert(done.end(), twin.early.begin(), twin.early.end());
  twin.early.clear();
}

void twice(Twin&, std::vector<Completed>& done) {
  const std::vector<Completed> once = done;
  for (const Completed& c : once) {
    if (!c.receive && c.status == engine::WorkStatus::success) done.push_back(c);
  }
}

std::vector<Defect> sending_defects() {
  return {
      {.name = "address of the message in every packet",
       .check = "segments",
       .out = each<Write>([](Twin&, Passing&, Write& w) { w.va = kTesterVa; })},
      {.name = "msn does not count", .check = "counts", .out = each<Write>([](Twin&, Passing&, Write& w) {
                                                          w.msn = 0;
                                                        })},
      {.name = "does not say that it pads",
       .check = "padding",
       .raw_out =
           [](auto& b, auto& around) {
             if (b[0] <= 0xCB) b[1] &= 0xCF, mend_icrc(b, around);
           }},
      {.name = "another immediate",
       .check = "immediate_at_the_end",
       .out = each<Write>([](Twin&, Passing&, Write& w) { w.imm = __builtin_bswap32(w.imm); })},
      {.name = "wrong icrc of data",
       .check = "icrc_of_data",
       .raw_out = [](auto& b, auto&) { b.back() ^= b[0] <= 0xCB ? 1 : 0; }},
      {.name = "data in class control",
       .check = "data_class",
       .out = each<Write>([](Twin&, Passing& p, Write& w) {
         if (!w.retransmitted) p.set_class(TrafficClass::control);
       })},
      {.name = "beyond mpr", .check = "window_respected", .adjust = [](auto&, auto& s, auto&) { s.mpr = 9; }},
      {.name = "too many immediates in flight",
       .check = "immediates_in_flight",
       .adjust = [](auto&, auto& s, auto&) { s.max_wimm = 64; }},
      {.name = "one ev for all", .check = "spray", .out = each<Write>([](Twin&, Passing& p, Write& w) {
                                                     if (!w.retransmitted) p.around.source_port = 0xBEEF;
                                                   })},
  };
}

std::vector<Defect> repair_defects() {
  return {
      {.name = "ignores trim nacks",
       .check = "repair_on_nack",
       .in = lose<Nack>(
           [](const Twin&, const Passing&, const Nack& n) { return n.reason == wire::NackReason::trimmed; })},
      {.name = "ignores nack no_resource",
       .check = "repair_on_any_nack",
       .in = lose<Nack>([](const Twin&, const Passing&, const Nack& n) {
         return n.reason == wire::NackReason::no_resource;
       })},
      {.name = "repairs without rtx",
       .check = "repair_marked",
       .out = each<Write>([](Twin&, Passing& p, Write& w) { w.retransmitted = w.retransmitted && !p.seen; })},
      {.name = "repairs on the same ev",
       .check = "repair_fresh_ev",
       .out = each<Write>([](Twin& t, Passing& p, Write&) {
         p.around.source_port = t.first_sent.at(p.packet.psn.value()).around.source_port;
       })},
      {.name = "repairs with another address",
       .check = "repair_same_reth",
       .out = each<Write>([](Twin&, Passing& p, Write& w) { w.va += p.seen ? 256 : 0; })},
      {.name = "repairs in the data class",
       .check = "repair_class",
       .out = each<Write>([](Twin&, Passing& p, Write&) { p.set_class(TrafficClass::trimmable); })},
      {.name = "never repairs a hole",
       .check = "repair_after_hole",
       .out =
           lose<Write>([](const Twin& t, const Passing& p, const Write&) { return p.seen && t.heard_sack; })},
      {.name = "repairs what is merely late", .check = "no_needless_repair", .in = repair_any_hole},
      {.name = "never asks",
       .check = "asks_tail",
       .out = lose<Probe>([](const Twin& t, const Passing&, const Probe&) { return !t.heard_sack; })},
      {.name = "linear retries only",
       .check = "retries",
       .adjust = [](auto&, auto& s,
                    auto&) { s.requestor.linear_retries = 4, s.requestor.exponential_retries = 0; }},
      {.name = "retries for ever",
       .check = "retries",
       .adjust = [](auto&, auto& s, auto&) { s.requestor.exponential_retries = 25; }},
      {.name = "twice the timeout",
       .check = "retries",
       .adjust = [](auto&, auto& s, auto&) { ++s.requestor.timeout; }},
  };
}

std::vector<Defect> completion_defects() {
  return {
      {.name = "completes on a sack",
       .check = "completes_on_ack",
       .in = complete_on_sack,
       .completions = completed_on_sack},
      {.name = "completes twice", .check = "completes_in_order", .completions = twice},
      {.name = "completes backwards",
       .check = "completes_in_order",
       .completions =
           [](Twin&, auto& done) {
             if (!done.empty() && done[0].status == engine::WorkStatus::success && !done[0].receive)
               std::reverse(done.begin(), done.end());
           }},
      {.name = "never flushes",
       .check = "flushed_once",
       .completions =
           [](Twin&, auto& done) {
             std::erase_if(done, [](const Completed& c) { return c.status == engine::WorkStatus::flushed; });
           }},
      {.name = "ignores an unexpected event",
       .check = "unexpected_event",
       .in = lose<Nack>([](const Twin&, const Passing&, const Nack& n) {
         return n.reason == wire::NackReason::unexp_event;
       })},
  };
}

std::vector<Defect> path_defects() {
  return {
      {.name = "its paths ignore marks",
       .check = "marked_ev_skips",
       .in = each<Sack>([](Twin& t, Passing&, Sack& s) {
         if (s.mark == wire::SackMark::skip_once && !t.congested) s.mark = wire::SackMark::none;
       })},
      {.name = "ignores always skip",
       .check = "bad_ev_leaves",
       .in = each<Sack>([](Twin&, Passing&, Sack& s) {
         if (s.mark == wire::SackMark::always_skip) s.mark = wire::SackMark::none;
       })},
      {.name = "never takes an ev back",
       .check = "bad_ev_returns",
       .in = lose<Sack>([](const Twin&, const Passing&, const Sack& s) { return s.probe_reply; })},
      {.name = "uses denied evs", .check = "denied_ev", .deaf_to_controller = true},
  };
}

}  // namespace

std::vector<Defect> requestor_defects() {
  std::vector<Defect> all;
  for (const auto& some : {sending_defects(), repair_defects(), completion_defects(), path_defects()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace mrc::conform
