// What a requestor sends: segments, counts, classes, and how far ahead.
#include <algorithm>
#include <set>

#include "conform/phrases.h"
#include "conform/receiver.h"
#include "engine/types.h"

namespace mrc::conform {
namespace {

using wire::Segment;
using wire::TrafficClass;

std::vector<Arrival> by_psn(std::vector<Arrival> all) {
  std::sort(all.begin(), all.end(), [](const Arrival& a, const Arrival& b) { return a.psn < b.psn; });
  return all;
}

Outcome came(std::size_t wanted, std::size_t got) {
  return fail(std::to_string(wanted) + " packets are due, " + std::to_string(got) + " came");
}

Outcome segments(Bench& b) {
  Receiver r(b);
  b.post({{.id = 1, .length = 1000}});
  const auto all = by_psn(r.serve(4));
  if (all.size() != 4) return came(4, all.size());
  constexpr Segment kSegments[] = {Segment::first, Segment::middle, Segment::middle, Segment::last};
  for (std::size_t i = 0; i < 4; ++i) {
    const wire::Write& w = all[i].write;
    const std::string which = "packet " + std::to_string(i) + " of a write of 1000 bytes at MTU 256: ";
    if (all[i].psn != static_cast<int>(i)) return fail(which + "its PSN does not follow");
    if (w.segment != kSegments[i]) return fail(which + "wrong opcode");
    if (w.payload != (i < 3 ? 256 : 232))
      return fail(which + "carries " + std::to_string(w.payload) + " bytes");
    if (w.va != kTesterVa + 256 * i) return fail(which + "RETH holds another address than its own");
    if (w.rkey != kTesterKey || w.dma_length != 1000) return fail(which + "RETH holds another key or length");
  }
  return pass();
}

Outcome counts(Bench& b) {
  Receiver r(b);
  b.post({{.id = 1, .length = 300, .has_imm = true, .imm = 9},
          {.id = 2, .length = 64},
          {.id = 3, .length = 64, .has_imm = true, .imm = 10}});
  const auto all = by_psn(r.serve(4));
  if (all.size() != 4) return came(4, all.size());
  constexpr std::uint16_t kMsn[] = {0, 0, 1, 2}, kRqmsn[] = {0, 0, 0, 1};
  for (std::size_t i = 0; i < 4; ++i) {
    const wire::Write& w = all[i].write;
    if (w.msn != kMsn[i])
      return fail("MSN " + std::to_string(w.msn) + " instead of " + std::to_string(kMsn[i]));
    if (i != 2 && w.rqmsn != kRqmsn[i])
      return fail("RQMSN " + std::to_string(w.rqmsn) + " instead of " + std::to_string(kRqmsn[i]));
  }
  return pass();
}

Outcome padding(Bench& b) {
  b.post({{.id = 1, .length = 261}});
  for (int left = 2; left > 0; --left) {
    const auto heard = b.await<wire::Write>();
    if (!heard) return nothing_came("data");
    const auto& write = *heard->as<wire::Write>();
    if (heard->bytes.size() % 4 != 0) return fail("a packet is not padded to whole words");
    if (write.payload != (starts(write.segment) ? 256 : 5))
      return unexpected("the payload without its padding", *heard);
  }
  return pass();
}

Outcome immediate_at_the_end(Bench& b) {
  Receiver r(b);
  b.post({{.id = 1, .length = 600, .has_imm = true, .imm = 0x01020304}});
  const auto all = by_psn(r.serve(3));
  if (all.size() != 3) return came(3, all.size());
  for (const Arrival& a : all) {
    if (a.write.has_imm != ends(a.write.segment))
      return fail("an immediate stands elsewhere than in the last packet");
  }
  return all[2].write.imm == 0x01020304 ? pass() : fail("the immediate is not the one that was posted");
}

Outcome icrc_of_data(Bench& b) {
  b.post({{.id = 1, .length = 1000}});
  const auto all = b.collect(b.settings().quiet);
  for (const Heard& heard : all) {
    if (heard.as<wire::Write>() != nullptr && heard.verdict == Verdict::bad_icrc)
      return unexpected("a valid iCRC", heard);
  }
  return all.empty() ? nothing_came("data") : pass();
}

Outcome data_class(Bench& b) {
  Receiver r(b);
  b.post({{.id = 1, .length = 1000}});
  const auto all = r.serve(4);
  for (const Arrival& a : all) {
    const bool data = a.traffic_class == TrafficClass::trimmable || a.traffic_class == TrafficClass::no_trim;
    if (!data && !a.again)
      return fail("a write travels in class " + std::string(wire::name(a.traffic_class)));
  }
  return all.empty() ? nothing_came("data") : pass();
}

Outcome window(Bench& b) {
  Receiver r(b);
  r.answers_probe = [](Ev) { return false; };
  const int granted = b.terms().mpr * engine::kMprUnit;
  b.post({{.id = 1, .length = static_cast<std::uint32_t>(granted + 300) * 256}});
  int highest = -1;
  // Until it is silent.
  for (const Arrival& a : r.take_all(static_cast<std::size_t>(granted) + 300))
    highest = std::max(highest, a.psn);
  if (highest >= granted)
    return fail("PSN first+" + std::to_string(highest) + " left, beyond the MPR of " +
                std::to_string(granted));
  if (highest < 0) return nothing_came("data");
  for (const Arrival& a : std::vector(r.seen())) r.place(a);
  r.sack(r.seen().back());
  const auto more = r.take(b.settings().answer);
  return more ? pass() : fail("a SACK of everything did not open the window");
}

Outcome immediates_in_flight(Bench& b) {
  Receiver r(b);
  const std::size_t most = b.terms().max_wimm, posted = most + 8;
  std::vector<PostedWrite> writes;
  for (std::size_t i = 0; i < posted; ++i)
    writes.push_back({.id = i, .length = 64, .has_imm = true, .imm = 1});
  b.post(writes);
  const std::size_t first = r.take_all(posted).size();
  if (first > most)
    return fail(std::to_string(first) + " immediates in flight, where " + std::to_string(most) +
                " are agreed");
  for (const Arrival& a : std::vector(r.seen())) r.place(a);
  r.sack(r.seen().back());
  r.acknowledge();
  return r.serve(posted - first).size() == posted - first ? pass() : fail("the rest never came");
}

Outcome spray(Bench& b) {
  Receiver r(b);
  b.post({{.id = 1, .length = 256 * 256}});
  const auto all = r.serve(256);
  if (all.size() < 256) return came(256, all.size());
  std::set<Ev> evs;
  for (const Arrival& a : all) evs.insert(a.ev);
  return evs.size() >= static_cast<std::size_t>(b.settings().evs)
             ? pass()
             : fail("256 packets took " + std::to_string(evs.size()) + " EVs, where " +
                    std::to_string(b.settings().evs) + " or more are expected");
}

constexpr Needs kPost{.post = true};
constexpr Check kChecks[] = {
    {"segments", "MRC-REQ-001", Role::requestor,
     "a write is cut at the path MTU, each packet with its own RETH", segments, kPost},
    {"counts", "MRC-REQ-002", Role::requestor, "METH counts messages and immediates from 0", counts, kPost},
    {"padding", "MRC-WIRE-005", Role::requestor, "the last packet is padded to whole words, and says so",
     padding, kPost},
    {"immediate_at_the_end", "MRC-WIRE-014", Role::requestor,
     "the immediate travels in the last packet alone", immediate_at_the_end, kPost},
    {"icrc_of_data", "MRC-WIRE-040", Role::requestor, "writes end with a valid iCRC", icrc_of_data, kPost},
    {"data_class", "MRC-NIC-013", Role::requestor, "writes travel in a data class", data_class, kPost},
    {"window_respected", "MRC-REQ-003", Role::requestor,
     "nothing beyond cack + MPR is sent, and a SACK opens the window", window, kPost},
    {"immediates_in_flight", "MRC-REQ-006", Role::requestor, "no more immediates in flight than agreed",
     immediates_in_flight, kPost},
    {"spray", "MRC-EV-001", Role::requestor, "packets of one write take many EVs", spray, kPost},
};

}  // namespace

std::span<const Check> sending_checks() { return kChecks; }

}  // namespace mrc::conform
