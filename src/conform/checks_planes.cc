// A requestor on several planes: all of them carry its data, and one that falls silent is left and taken
// back.
#include <algorithm>

#include "conform/phrases.h"
#include "conform/receiver.h"

namespace mrc::conform {
namespace {

constexpr std::size_t kBatch = 32;
constexpr int kDead = 1;          // the plane that falls silent
constexpr Duration kReturn = 5s;  // longer than the longest pause between two probes

/// Writes of a few packets on each plane, each answered before the next.
class Traffic {
 public:
  explicit Traffic(Bench& b) : bench(b), receiver(b), packets(static_cast<std::size_t>(b.planes())) {}
  /// False when the device stopped sending.
  bool batches(int count) {
    for (int i = 0; i < count; ++i) {
      bench.post({{.id = next_id++, .length = kBatch * 256}});
      const auto all = receiver.serve(kBatch);
      for (const Arrival& a : all) ++packets[static_cast<std::size_t>(a.plane)];
      if (all.size() < kBatch || bench.failed()) return false;
    }
    return true;
  }
  void lose_plane() {
    receiver.loses = [](const Heard& h) { return h.plane == kDead; };
  }

  Bench& bench;
  Receiver receiver;
  std::vector<std::size_t> packets;  // by plane
  std::uint64_t next_id = 1;
};

Outcome stopped() { return fail("the device stopped sending in the middle of a transfer"); }

Outcome planes_share(Bench& b) {
  Traffic t(b);
  if (!t.batches(32)) return stopped();
  const std::size_t least = 32 * kBatch / t.packets.size() / 2;
  for (std::size_t p = 0; p < t.packets.size(); ++p) {
    if (t.packets[p] < least)
      return fail("plane " + std::to_string(p) + " carried " + std::to_string(t.packets[p]) + " of " +
                  std::to_string(32 * kBatch) + " packets");
  }
  return pass();
}

Outcome plane_left(Bench& b) {
  Traffic t(b);
  if (!t.batches(8)) return stopped();
  t.lose_plane();
  if (!t.batches(24)) return stopped();
  t.receiver.lost_writes = 0;
  if (!t.batches(24)) return stopped();
  return t.receiver.lost_writes == 0 ? pass()
                                     : fail(std::to_string(t.receiver.lost_writes) +
                                            " data packets left by a plane from which nothing is heard");
}

Outcome plane_returns(Bench& b) {
  Traffic t(b);
  if (!t.batches(8)) return stopped();
  if (t.packets[kDead] == 0) return skip("a plane carries nothing; planes_share tells");
  t.lose_plane();
  if (!t.batches(24)) return stopped();
  t.receiver.loses = {};
  std::fill(t.packets.begin(), t.packets.end(), 0);
  for (const Time end = b.now() + kReturn; b.now() < end && t.packets[kDead] == 0;) {
    t.receiver.take(b.settings().quiet);
    if (!t.batches(1)) return stopped();
  }
  return t.packets[kDead] > 0 ? pass() : fail("a plane whose probes are answered again carries no data");
}

constexpr Needs kNeeds{.post = true, .planes = true};
constexpr Check kChecks[] = {
    {"planes_share", "MRC-EV-005", Role::requestor, "all planes carry their share", planes_share, kNeeds},
    {"plane_left", "MRC-EV-014", Role::requestor, "a plane that fell silent carries no data", plane_left,
     kNeeds},
    {"plane_returns", "MRC-EV-015", Role::requestor, "it is asked, and taken back when it answers",
     plane_returns, kNeeds},
};

}  // namespace

std::span<const Check> plane_checks() { return kChecks; }

}  // namespace mrc::conform
