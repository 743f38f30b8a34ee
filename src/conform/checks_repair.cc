// What a requestor does about packets that did not arrive: repairs, questions, retries.
#include <algorithm>

#include "conform/phrases.h"
#include "conform/receiver.h"
#include "wire/datagram.h"

namespace mrc::conform {
namespace {

using wire::NackReason;

constexpr std::uint32_t kPackets = 64;
constexpr int kLost = 5;

/// The first transmission of one packet and its repair after a NACK. The timeout is far away and nothing else
/// is answered, so only the NACK can have caused it.
struct Repair {
  std::optional<Arrival> first, second;
};
Repair provoke(Bench& b) {
  Receiver r(b);
  r.answers_probe = [](Ev) { return false; };
  b.post({{.id = 1, .length = 16 * 256}});
  Repair repair;
  for (const Arrival& a : r.take_all(16)) {
    if (a.psn == kLost) repair.first = a;
  }
  if (!repair.first) return repair;
  r.nack(*repair.first, NackReason::trimmed);
  const Time deadline = b.now() + b.settings().answer;
  while (const auto a = r.take(deadline - b.now())) {
    if (a->psn != kLost) continue;
    repair.second = a;
    break;
  }
  return repair;
}

Outcome no_repair(const Repair& r) {
  return r.first ? skip("it repairs nothing; repair_on_nack tells") : nothing_came("data");
}

Outcome on_nack(Bench& b) {
  const Repair r = provoke(b);
  if (!r.first) return nothing_came("data");
  return r.second ? pass() : fail("NACK TRIMMED brought no repair");
}

Outcome on_any_nack(Bench& b) {
  constexpr NackReason kReasons[] = {NackReason::trimmed_lasthop, NackReason::no_bitmap,
                                     NackReason::no_pkt_buffer, NackReason::no_resource,
                                     NackReason::psn_oor_window};
  Receiver r(b);
  r.answers_probe = [](Ev) { return false; };
  b.post({{.id = 1, .length = 5 * 256}});
  const auto all = r.take_all(5);
  if (all.size() < 5) return nothing_came("message of five packets");
  for (const Arrival& a : all) r.nack(a, kReasons[a.psn % 5]);
  const Time deadline = b.now() + b.settings().answer;
  while (r.repeated().size() < 5 && r.take(deadline - b.now())) {
  }
  for (const Arrival& a : all) {
    const auto again = r.repeated();
    const auto same = [&](const Arrival& s) { return s.psn == a.psn; };
    if (std::none_of(again.begin(), again.end(), same))
      return fail("no repair after NACK " + std::string(wire::name(kReasons[a.psn % 5])));
  }
  return pass();
}

Outcome marked(Bench& b) {
  const Repair r = provoke(b);
  if (!r.second) return no_repair(r);
  return r.second->write.retransmitted ? pass() : fail("a repair without rtx");
}

Outcome fresh_ev(Bench& b) {
  const Repair r = provoke(b);
  if (!r.second) return no_repair(r);
  return r.second->ev != r.first->ev ? pass() : fail("the repair took the EV that the NACK was about");
}

Outcome same_reth(Bench& b) {
  const Repair r = provoke(b);
  if (!r.second) return no_repair(r);
  const wire::Write &w = r.second->write, &first = r.first->write;
  const bool same = w.va == first.va && w.rkey == first.rkey && w.dma_length == first.dma_length &&
                    w.payload == first.payload;
  return same ? pass() : fail("the repair's RETH or payload is not that of the first transmission");
}

Outcome own_class(Bench& b) {
  const Repair r = provoke(b);
  if (!r.second) return no_repair(r);
  return r.second->traffic_class == wire::TrafficClass::trimmable_retx
             ? pass()
             : fail("the repair travels in class " + std::string(wire::name(r.second->traffic_class)));
}

Outcome after_hole(Bench& b) {
  Receiver r(b);
  b.post({{.id = 1, .length = kPackets * 256}});
  const Time deadline = b.now() + b.settings().answer;
  while (const auto a = r.take(deadline - b.now())) {
    if (a->psn == kLost && a->again) return pass();
    if (a->psn == kLost) continue;  // lost, once
    r.place(*a);
    r.sack(*a);
  }
  return fail("PSN first+5 is missing from every SACK, and was never sent again");
}

Outcome needless(Bench& b) {
  Receiver r(b);
  b.post({{.id = 1, .length = 8 * 256}});
  const auto all = r.take_all(8);
  if (all.size() < 8) return nothing_came("message of eight packets");
  // The network turned their order round: each took its own path, so none is proven lost.
  for (auto a = all.rbegin(); a != all.rend(); ++a) {
    r.place(*a);
    r.sack(*a);
  }
  r.acknowledge();
  r.drain();
  return r.repeated().empty() ? pass() : fail("packets that were merely out of order were sent again");
}

Outcome asks_tail(Bench& b) {
  b.post({{.id = 1, .length = 64}});
  return b.await<wire::Probe>() ? pass() : fail("nothing was answered, and no probe asked why");
}

/// Times of the transmissions of the only packet, until the device is silent for good.
std::vector<Time> transmissions(Bench& b, Duration silence) {
  std::vector<Time> times;
  Receiver r(b);
  r.answers_probe = [](Ev) { return false; };
  constexpr std::size_t kMost = 64;  // a device that never gives up must not keep us
  while (times.size() < kMost) {
    const auto a = r.take(silence);
    if (!a) break;
    times.push_back(a->at);
  }
  return times;
}

Outcome retries(Bench& b) {
  Terms terms;
  terms.timeout = 17;  // 134 ms: long enough that a busy machine does not blur it
  if (!b.connect(terms)) return fail(b.broken());
  const Duration timeout = 1024ns * (1 << terms.timeout);
  const Duration slack = timeout / 2;  // for a device, and a tester, on a busy machine
  b.post({{.id = 1, .length = 64}});
  const auto sent = transmissions(b, timeout * 9);
  const std::size_t wanted = 1u + terms.linear_retries + terms.exponential_retries;
  if (sent.size() != wanted) {
    return fail("sent " + times(sent.size()) + " in all, where " + std::to_string(wanted - 1) +
                " retries were agreed");
  }
  Duration longest{};
  for (std::size_t i = 1; i < sent.size(); ++i) {
    const Duration gap = sent[i] - sent[i - 1];
    const std::string which =
        "retry " + std::to_string(i) + " came after " + std::to_string(gap / 1us) + " us";
    if (gap < timeout - slack) return fail(which + ", before the timeout");
    if (i <= terms.linear_retries && gap > timeout + slack)
      return fail(which + ", as a linear one after more than the timeout");
    longest = std::max(longest, gap);
  }
  if (longest < 2 * timeout - slack)
    return fail("no retry waited for twice the timeout, as exponential ones do");
  const auto done = b.completions(1, b.settings().answer);
  const bool told = std::any_of(done.begin(), done.end(), [](const Completed& c) {
    return !c.receive && c.status == engine::WorkStatus::retry_exceeded;
  });
  return told ? pass() : fail("the write did not fail with retry exceeded");
}

constexpr Needs kPost{.post = true};
constexpr Check kChecks[] = {
    {"repair_on_nack", "MRC-REQ-012", Role::requestor, "NACK TRIMMED brings a repair at once", on_nack,
     kPost},
    {"repair_on_any_nack", "MRC-REQ-012", Role::requestor,
     "every other reason but UNEXP_EVENT brings a repair too", on_any_nack, kPost},
    {"repair_marked", "MRC-REQ-005", Role::requestor, "a repair has rtx set", marked, kPost},
    {"repair_fresh_ev", "MRC-REQ-005", Role::requestor, "a repair takes another EV than the one of the NACK",
     fresh_ev, kPost},
    {"repair_same_reth", "MRC-REQ-005", Role::requestor, "a repair has the same RETH", same_reth, kPost},
    {"repair_class", "MRC-NIC-013", Role::requestor, "repairs have a class of their own", own_class, kPost},
    {"repair_after_hole", "MRC-REQ-004", Role::requestor,
     "a hole with newer packets of its EV behind it is repaired", after_hole, kPost},
    {"no_needless_repair", "MRC-REQ-004", Role::requestor, "reordering across EVs brings no repair", needless,
     kPost},
    {"asks_tail", "MRC-REQ-007", Role::requestor, "a silent tail is asked by a probe before the timeout",
     asks_tail, kPost},
    {"retries",
     "MRC-REQ-008",
     Role::requestor,
     "retries are linear, then exponential, then the work fails",
     retries,
     {.post = true, .completions = true},
     true},
};

}  // namespace

std::span<const Check> repair_checks() { return kChecks; }

}  // namespace mrc::conform
