// Which packets a responder takes: the window, duplicates, trimmed packets.
#include "conform/phrases.h"
#include "engine/types.h"

namespace mrc::conform {
namespace {

using wire::NackReason;
using wire::TrafficClass;

Outcome edge_of_window(Bench& b) {
  const int last = b.target().mpr * engine::kMprUnit - 1;
  b.write({.psn = last, .ack_request = true, .rtx = true});
  const auto heard = b.await<wire::Sack>();
  return heard ? pass()
               : fail("the last PSN of the window, first+" + std::to_string(last) + ", was not taken");
}

Outcome beyond_window(Bench& b) {
  const auto before = b.memory(0, 64);
  const int beyond = b.target().mpr * engine::kMprUnit;
  b.write(
      {.psn = beyond, .ack_request = true, .rtx = true, .fill = static_cast<std::uint8_t>(before[0] + 1)});
  for (const Heard& heard : b.collect(b.settings().quiet)) {
    const auto* nack = heard.as<wire::Nack>();
    if (heard.as<wire::Probe>() != nullptr) continue;  // it may ask its own paths
    if (nack == nullptr || nack->reason != NackReason::psn_oor_window) {
      return unexpected("NACK PSN_OOR_WINDOW or silence", heard);
    }
  }
  return b.memory(0, 64) == before ? pass() : fail("a packet beyond the window was placed");
}

Outcome duplicate_answered(Bench& b) {
  b.write({.psn = 0});
  b.collect(b.settings().quiet);
  b.write({.psn = 0});
  return b.await<wire::Sack>() ? pass() : fail("a packet that came twice was not answered again");
}

Outcome duplicate_not_placed(Bench& b) {
  b.write({.psn = 0, .fill = 0x11});
  b.collect(b.settings().quiet);
  b.write({.psn = 0, .rtx = true, .fill = 0x22});
  b.collect(b.settings().quiet);
  return all_are(b.memory(0, 64), 0x11) ? pass() : fail("the second arrival of a PSN was placed");
}

Outcome trimmed(Bench& b, TrafficClass how, NackReason wanted) {
  b.write({.psn = 2, .traffic_class = how}, [](auto& bytes, auto&) { bytes.resize(36); });
  const auto heard = b.await<wire::Nack>();
  if (!heard) return nothing_came("NACK");
  const auto& nack = *heard->as<wire::Nack>();
  if (nack.nack_psn != b.ours(2)) return unexpected("nack_psn of the trimmed packet", *heard);
  return nack.reason == wanted ? pass() : unexpected(wire::name(wanted), *heard);
}
Outcome trim_fabric(Bench& b) { return trimmed(b, TrafficClass::trimmed, NackReason::trimmed); }
Outcome trim_lasthop(Bench& b) {
  return trimmed(b, TrafficClass::trimmed_lasthop, NackReason::trimmed_lasthop);
}

Outcome trim_not_placed(Bench& b) {
  const auto before = b.memory(0, 64);
  // Whole, but of a class that says that it was trimmed: its bytes are not to be trusted.
  b.write(
      {.psn = 0, .traffic_class = TrafficClass::trimmed, .fill = static_cast<std::uint8_t>(before[0] + 1)});
  b.collect(b.settings().quiet);
  return b.memory(0, 64) == before ? pass() : fail("bytes of a trimmed packet were placed");
}

constexpr Check kChecks[] = {
    {"window_edge", "MRC-RSP-003", Role::responder, "the last PSN of the window is taken", edge_of_window},
    {"window_beyond",
     "MRC-RSP-003",
     Role::responder,
     "a PSN beyond the window is refused and not placed",
     beyond_window,
     {.memory = true}},
    {"duplicate_answered", "MRC-RSP-004", Role::responder, "a duplicate is answered", duplicate_answered},
    {"duplicate_not_placed",
     "MRC-RSP-004",
     Role::responder,
     "a duplicate is not written again",
     duplicate_not_placed,
     {.memory = true}},
    {"trim_fabric", "MRC-RSP-007", Role::responder, "a trimmed packet brings NACK TRIMMED", trim_fabric},
    {"trim_lasthop", "MRC-RSP-007", Role::responder,
     "one trimmed at the last hop brings NACK TRIMMED_LASTHOP", trim_lasthop},
    {"trim_not_placed",
     "MRC-WIRE-052",
     Role::responder,
     "no bytes of a trimmed packet are placed",
     trim_not_placed,
     {.memory = true}},
};

}  // namespace

std::span<const Check> window_checks() { return kChecks; }

}  // namespace mrc::conform
