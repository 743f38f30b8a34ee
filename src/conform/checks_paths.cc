// Which EVs a requestor uses after it was told about one.
#include <algorithm>
#include <map>

#include "conform/phrases.h"
#include "conform/receiver.h"

namespace mrc::conform {
namespace {

using wire::SackMark;

constexpr std::size_t kBatch = 16;

/// Transfers in small pieces, each answered before the next, so that what a SACK says counts for what
/// follows.
class Traffic {
 public:
  explicit Traffic(Bench& b) : bench(b), receiver(b) {}
  /// False when the device stopped sending.
  bool batches(int count, const Receiver::Mark& mark = {}) {
    for (int i = 0; i < count; ++i) {
      bench.post({{.id = next_id++, .length = kBatch * 256}});
      const auto all = receiver.serve(kBatch, mark);
      for (const Arrival& a : all) ++uses[a.ev];
      if (all.size() < kBatch || bench.failed()) return false;
    }
    return true;
  }
  /// All EVs of the device are in `uses`, each more than once.
  bool warm_up() { return batches(32); }

  Bench& bench;
  Receiver receiver;
  std::map<Ev, int> uses;
  std::uint64_t next_id = 1;
};

Outcome too_few() { return skip("the device uses fewer than four EVs; spray tells"); }

Outcome stopped() { return fail("the device stopped sending in the middle of a transfer"); }

Outcome marked_ev_skips(Bench& b) {
  Traffic t(b);
  if (!t.warm_up()) return stopped();
  if (t.uses.size() < 4) return too_few();
  const Ev marked = t.uses.begin()->first;
  const int evs = static_cast<int>(t.uses.size());
  t.uses.clear();
  // Long enough for a dozen rotations.
  const auto mark = [&](const Arrival& a) { return a.ev == marked ? SackMark::skip_once : SackMark::none; };
  if (!t.batches(std::max(12 * evs / static_cast<int>(kBatch), 12), mark)) return stopped();
  int all = 0;
  for (const auto& [ev, n] : t.uses) all += n;
  const int share = all / evs;
  return t.uses[marked] * 4 <= share * 3
             ? pass()
             : fail("an EV with a mark in each SACK was used " + std::to_string(t.uses[marked]) +
                    " times, others " + std::to_string(share) + " on average");
}

Outcome bad_ev_leaves(Bench& b) {
  Traffic t(b);
  if (!t.warm_up()) return stopped();
  if (t.uses.size() < 4) return too_few();
  const Ev bad = t.uses.begin()->first;
  t.receiver.answers_probe = [bad](Ev ev) { return ev != bad; };
  bool told = false;
  const auto tell = [&](const Arrival& a) {
    const bool now = a.ev == bad && !told;
    told = told || now;
    return now ? SackMark::always_skip : SackMark::none;
  };
  for (int i = 0; i < 64 && !told; ++i) {
    if (!t.batches(1, tell)) return stopped();
  }
  t.uses.clear();
  if (!t.batches(24)) return stopped();
  return t.uses.count(bad) == 0 ? pass() : fail("an EV that a SACK called ALWAYS_SKIP still carries data");
}

Outcome bad_ev_returns(Bench& b) {
  Traffic t(b);
  if (!t.warm_up()) return stopped();
  if (t.uses.size() < 4) return too_few();
  const Ev bad = t.uses.begin()->first;
  bool told = false;
  for (int i = 0; i < 64 && !told; ++i) {
    const auto tell = [&](const Arrival& a) {
      return a.ev == bad ? (told = true, SackMark::always_skip) : SackMark::none;
    };
    if (!t.batches(1, tell)) return stopped();
  }
  t.uses.clear();
  // Its probes are answered: time and traffic are all that it needs.
  for (int i = 0; i < 64 && t.uses.count(bad) == 0; ++i) {
    t.receiver.take(b.settings().quiet);
    if (!t.batches(2)) return stopped();
  }
  return t.uses.count(bad) > 0 ? pass() : fail("an EV whose probes were answered did not return");
}

Outcome denied_ev(Bench& b) {
  Terms terms = b.settings().terms;
  terms.controlled = true;
  if (!b.connect(terms)) return fail(b.broken());
  Traffic t(b);
  if (!t.warm_up()) return stopped();
  if (t.uses.size() < 4) return too_few();
  const Ev denied = t.uses.begin()->first;
  if (auto said = b.device().deny(denied); !said) return skip(said.error().what);
  t.uses.clear();
  if (!t.batches(24)) return stopped();
  return t.uses.count(denied) == 0 ? pass() : fail("an EV that the controller denied carries data");
}

constexpr Check kChecks[] = {
    {"marked_ev_skips",
     "MRC-EV-002",
     Role::requestor,
     "an EV with a mark misses a turn",
     marked_ev_skips,
     {.post = true}},
    {"bad_ev_leaves",
     "MRC-EV-004",
     Role::requestor,
     "an EV called ALWAYS_SKIP carries no data",
     bad_ev_leaves,
     {.post = true}},
    {"bad_ev_returns",
     "MRC-EV-007",
     Role::requestor,
     "it returns when its probes are answered",
     bad_ev_returns,
     {.post = true}},
    {"denied_ev",
     "MRC-EV-009",
     Role::requestor,
     "a DENIED EV carries no data",
     denied_ev,
     {.post = true, .deny = true}},
};

}  // namespace

std::span<const Check> path_checks() { return kChecks; }

}  // namespace mrc::conform
