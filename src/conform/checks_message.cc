// Whole messages at the responder: placement, Transport ACKs, immediates.
#include "conform/phrases.h"

namespace mrc::conform {
namespace {

using wire::Segment;

Outcome placed_by_reth(Bench& b) {
  b.write({.psn = 2, .at = 512, .length = 100, .segment = Segment::last, .message = 612, .fill = 3});
  b.write({.psn = 1, .at = 256, .length = 256, .segment = Segment::middle, .message = 612, .fill = 2});
  b.write({.psn = 0, .at = 0, .length = 256, .segment = Segment::first, .message = 612, .fill = 1});
  b.collect(b.settings().quiet);
  const bool right =
      all_are(b.memory(0, 256), 1) && all_are(b.memory(256, 256), 2) && all_are(b.memory(512, 100), 3);
  return right ? pass() : fail("packets that came in reverse order lie elsewhere than their RETH says");
}

Outcome ack_counts_executed(Bench& b) {
  b.write({.psn = 1, .msn = 1, .ack_request = true});  // the message before it is missing
  for (const Heard& heard : b.collect(b.settings().quiet)) {
    const auto* ack = heard.as<wire::TransportAck>();
    if (ack != nullptr && ack->msn != 0)
      return unexpected("no message acknowledged while the first is missing", heard);
  }
  b.write({.psn = 0, .ack_request = true});
  const auto heard = b.await<wire::TransportAck>(
      b.settings().answer, [](const wire::TransportAck& a, const Heard&) { return a.msn == 2; });
  return heard ? pass() : nothing_came("Transport ACK of both messages");
}

Outcome empty_write(Bench& b) {
  b.write({.length = 0, .ack_request = true, .rkey = RKey(b.target().rkey.value ^ 0x01000001)});
  const auto heard = b.await<wire::TransportAck>();
  if (!heard) return nothing_came("Transport ACK");
  const auto& ack = *heard->as<wire::TransportAck>();
  return ack.syndrome == wire::Syndrome::ack && ack.msn == 1 ? pass()
                                                             : unexpected("an ACK of one message", *heard);
}

std::vector<std::uint32_t> immediates(const std::vector<Completed>& done) {
  std::vector<std::uint32_t> all;
  for (const Completed& c : done) {
    if (c.receive && c.has_imm) all.push_back(c.imm);
  }
  return all;
}

Outcome immediates_in_order(Bench& b) {
  b.write({.psn = 2, .msn = 2, .rqmsn = 1, .imm = 102});
  b.write({.psn = 1, .msn = 1, .rqmsn = 0, .imm = 101});
  b.collect(b.settings().quiet);
  if (!immediates(b.completions()).empty())
    return fail("an immediate completed before the write ahead of it had come");
  b.write({.psn = 0, .msn = 0});
  const auto got = immediates(b.completions(2, b.settings().answer));
  if (got.size() < 2) return fail("two immediates came, and completed " + times(got.size()));
  return got == std::vector<std::uint32_t>{101, 102}
             ? pass()
             : fail("immediates completed in another order than sent");
}

Outcome immediate_once(Bench& b) {
  b.write({.psn = 0, .imm = 55});
  std::size_t n = immediates(b.completions(1, b.settings().answer)).size();
  b.write({.psn = 0, .imm = 55, .rtx = true});
  b.collect(b.settings().quiet);
  n += immediates(b.completions()).size();
  return n == 1 ? pass() : fail("an immediate that came twice completed " + times(n));
}

constexpr Check kChecks[] = {
    {"placed_by_reth",
     "MRC-WIRE-012",
     Role::responder,
     "each packet is placed at its own address, in any order",
     placed_by_reth,
     {.memory = true}},
    {"ack_counts_executed", "MRC-RSP-010", Role::responder,
     "a Transport ACK counts messages with all before them", ack_counts_executed},
    {"empty_write", "MRC-NIC-002", Role::responder, "a write of no bytes is executed, whatever its key",
     empty_write},
    {"immediates_in_order",
     "MRC-RSP-001",
     Role::responder,
     "receives complete in send order, after all that was before",
     immediates_in_order,
     {.completions = true}},
    {"immediate_once",
     "MRC-RSP-004",
     Role::responder,
     "an immediate that comes twice completes once",
     immediate_once,
     {.completions = true}},
};

}  // namespace

std::span<const Check> message_checks() { return kChecks; }

}  // namespace mrc::conform
