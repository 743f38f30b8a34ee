// When work completes at a requestor, and how it fails.
#include "conform/phrases.h"
#include "conform/receiver.h"

namespace mrc::conform {
namespace {

using engine::WorkStatus;

std::vector<PostedWrite> writes(std::uint64_t count) {
  std::vector<PostedWrite> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back({.id = 100 + i, .length = 64});
  return all;
}

void place_all(Receiver& r, std::size_t count) {
  for (const Arrival& a : r.take_all(count)) {
    r.place(a);
    r.sack(a);
  }
}

Outcome on_ack_only(Bench& b) {
  Receiver r(b);
  b.post(writes(1));
  place_all(r, 1);
  r.drain();
  if (!b.completions().empty()) return fail("a write completed on its SACK, before the Transport ACK");
  r.acknowledge();
  return !b.completions(1, b.settings().answer).empty() ? pass() : fail("a Transport ACK completed nothing");
}

Outcome in_order_once(Bench& b) {
  Receiver r(b);
  b.post(writes(3));
  place_all(r, 3);
  r.acknowledge();
  auto done = b.completions(3, b.settings().answer);
  r.acknowledge();  // said twice
  b.collect(b.settings().quiet);
  const auto more = b.completions();
  done.insert(done.end(), more.begin(), more.end());
  if (done.size() != 3) return fail("three writes completed " + times(done.size()));
  for (std::uint64_t i = 0; i < 3; ++i) {
    if (done[i].id != 100 + i) return fail("completions are not in the order of posting");
    if (done[i].status != WorkStatus::success) return fail("a write that was acknowledged failed");
  }
  return pass();
}

Outcome fails_with(const std::vector<Completed>& done, WorkStatus wanted) {
  if (done.empty()) return fail("nothing completed");
  return done[0].status == wanted ? pass()
                                  : fail("the first write did not fail with the error that the peer told");
}

Outcome flushed_once(Bench& b) {
  Receiver r(b);
  b.post(writes(4));
  r.take_all(4);
  r.acknowledge(0, wire::Syndrome::remote_access_error);
  const auto done = b.completions(4 + 64, b.settings().answer);  // and the receives that were posted
  std::vector<Completed> sends;
  for (const Completed& c : done) {
    if (!c.receive) sends.push_back(c);
  }
  if (sends.size() != 4) return fail("after a NAK four writes completed " + times(sends.size()));
  for (std::size_t i = 1; i < 4; ++i) {
    if (sends[i].status != WorkStatus::flushed)
      return fail("a write behind the one that failed was not flushed");
  }
  return fails_with(sends, WorkStatus::remote_access_error);
}

Outcome unexpected_event(Bench& b) {
  Receiver r(b);
  b.post(writes(1));
  const auto all = r.take_all(1);
  if (all.empty()) return nothing_came("data");
  r.nack(all[0], wire::NackReason::unexp_event);
  return fails_with(b.completions(1, b.settings().answer), WorkStatus::remote_operation_error);
}

constexpr Needs kBoth{.post = true, .completions = true};
constexpr Check kChecks[] = {
    {"completes_on_ack", "MRC-REQ-010", Role::requestor,
     "a write completes on its Transport ACK, not on a SACK", on_ack_only, kBoth},
    {"completes_in_order", "MRC-REQ-009", Role::requestor, "writes complete in post order, once each",
     in_order_once, kBoth},
    {"flushed_once", "MRC-REQ-009", Role::requestor,
     "after a NAK the first fails with it, the others are flushed", flushed_once, kBoth, true},
    {"unexpected_event", "MRC-REQ-012", Role::requestor, "NACK UNEXP_EVENT is a remote operation error",
     unexpected_event, kBoth, true},
};

}  // namespace

std::span<const Check> completion_checks() { return kChecks; }

}  // namespace mrc::conform
