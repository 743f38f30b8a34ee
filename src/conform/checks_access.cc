// Writes that must be refused: by key, by bounds, by length, by what immediates need.
#include "conform/phrases.h"

namespace mrc::conform {
namespace {

using wire::Segment;
using wire::Syndrome;

/// The packet is refused with this syndrome, its bytes are nowhere, and the QP takes nothing any more.
Outcome refused(Bench& b, Out packet, Syndrome wanted) {
  const std::uint32_t look_at = packet.at + 64 <= b.target().length ? packet.at : b.target().length - 64;
  const auto before = b.memory(look_at, 64);
  packet.fill = static_cast<std::uint8_t>(before[0] + 1);
  b.write(packet);
  const auto heard = b.await<wire::TransportAck>(
      b.settings().answer,
      [](const wire::TransportAck& a, const Heard&) { return a.syndrome != Syndrome::ack; });
  if (!heard) return nothing_came("NAK");
  if (heard->as<wire::TransportAck>()->syndrome != wanted) return unexpected(wire::name(wanted), *heard);
  if (b.memory(look_at, 64) != before) return fail("it was refused, and placed");
  const auto untouched = b.memory(4096, 64);
  b.write({.psn = packet.psn, .at = 4096, .fill = static_cast<std::uint8_t>(untouched[0] + 1)});
  b.collect(b.settings().quiet);
  return b.memory(4096, 64) == untouched ? pass() : fail("the QP went on after a NAK");
}

Outcome wrong_key(Bench& b) {
  return refused(b, {.rkey = RKey(b.target().rkey.value ^ 0x01000001)}, Syndrome::remote_access_error);
}

Outcome out_of_bounds(Bench& b) {
  return refused(b, {.at = b.target().length - 32}, Syndrome::remote_access_error);
}

Outcome short_first(Bench& b) {
  return refused(b, {.length = 64, .segment = Segment::first, .message = 1024}, Syndrome::invalid_request);
}

Outcome nak_of_any_kind(Bench& b, std::string_view what) {
  const auto heard = b.await<wire::TransportAck>(
      b.settings().answer,
      [](const wire::TransportAck& a, const Heard&) { return a.syndrome != Syndrome::ack; });
  if (heard) return pass();
  return fail("no NAK after " + std::string(what));
}

Outcome no_receive(Bench& b) {
  Terms terms;
  terms.receives = 0;
  if (!b.connect(terms)) return fail(b.broken());
  b.write({.imm = 1});
  return nak_of_any_kind(b, "an immediate without a receive");
}

Outcome too_many_immediates(Bench& b) {
  const int most = b.target().max_wimm;
  for (int i = 1; i <= most + 1; ++i) {  // PSN 0 is missing, so all of them wait
    b.write({.psn = i,
             .msn = static_cast<std::uint16_t>(i),
             .rqmsn = static_cast<std::uint16_t>(i - 1),
             .imm = 1});
  }
  return nak_of_any_kind(b, std::to_string(most + 1) + " immediates in flight");
}

constexpr Check kChecks[] = {
    {"wrong_key",
     "MRC-RSP-002",
     Role::responder,
     "a wrong R_Key: remote access error, nothing written, the QP ends",
     wrong_key,
     {.memory = true},
     true},
    {"out_of_bounds",
     "MRC-RSP-002",
     Role::responder,
     "past the region's end: remote access error, nothing written",
     out_of_bounds,
     {.memory = true},
     true},
    {"short_first",
     "MRC-RSP-002",
     Role::responder,
     "a First below the path MTU: invalid request, nothing written",
     short_first,
     {.memory = true},
     true},
    {"no_receive",
     "MRC-RSP-008",
     Role::responder,
     "an immediate without a posted receive ends the QP",
     no_receive,
     {.completions = true},
     true},
    {"too_many_immediates",
     "MRC-RSP-008",
     Role::responder,
     "one immediate more than agreed ends the QP",
     too_many_immediates,
     {},
     true},
};

}  // namespace

std::span<const Check> access_checks() { return kChecks; }

}  // namespace mrc::conform
