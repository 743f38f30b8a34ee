// What the window of a requestor does under congestion control. The tester is receiver and fabric at once: it
// lets the device fill its window, and answers after a round trip of its choice, with or without a mark.
#include <algorithm>

#include "conform/phrases.h"
#include "conform/receiver.h"
#include "engine/sizes.h"

namespace mrc::conform {
namespace {

using wire::SackMark;

constexpr std::uint32_t kPackets = 256;        // the maximum window
constexpr std::uint32_t kWrite = 1024 * 1024;  // more than all rounds take
constexpr int kRoundsOfMarks = 6, kRoundsToGrow = 12;

/// How one flight is answered.
struct Answer {
  Duration beyond{};  // the base RTT
  SackMark mark = SackMark::none;
  std::uint8_t penalty = 0;
  bool restore = false;
};

class Flow {
 public:
  explicit Flow(Bench& b) : bench_(b) {}

  /// A QP under congestion control, and its first flight.
  bool begin() {
    Terms terms = bench_.settings().terms;
    terms.congestion = {kPackets * engine::cc_bytes_max(terms.mtu),
                        static_cast<std::uint32_t>(base_rtt().count())};
    if (!bench_.connect(terms)) return false;
    receiver_.emplace(bench_);
    // An answer to a question would tell what the check wants to tell at a time of its own.
    receiver_->answers_probe = [](Ev) { return false; };
    bench_.post({{.id = 1, .length = kWrite}});
    first_ = fill();
    return first_ > 0 && !bench_.failed();
  }

  /// Packets that come until the device waits for an answer. A device that has one needs time to begin.
  std::size_t fill() { return fill(bench_.settings().answer); }
  std::size_t fill(Duration begins_within) {
    flight_.clear();
    if (!take(begins_within)) return 0;
    while (flight_.size() < 8 * kPackets && take(bench_.settings().quiet)) {
    }
    return flight_.size();
  }

  /// One SACK of everything, caused by the last packet.
  void answer(const Answer& how) {
    if (flight_.empty()) return;
    const Time due = flight_.back().at + base_rtt() + how.beyond;
    while (bench_.now() < due && take(due - bench_.now())) {
    }
    receiver_->sack(flight_.back(), [&](wire::Sack& s) {
      s.mark = how.mark;
      s.rcv_cwnd_pen = how.penalty;
      s.restore_cwnd = how.restore;
    });
  }
  std::size_t round(const Answer& how) { return answer(how), fill(); }

  /// Late and marked, until the window should be small.
  std::size_t shrink() {
    std::size_t last = first_;
    for (int i = 0; i < kRoundsOfMarks; ++i)
      last = round({.beyond = 2 * target(), .mark = SackMark::skip_once});
    return last;
  }

  /// Long against what the network and two programs take, so that the tester's is the only delay.
  Duration base_rtt() const { return 4 * bench_.settings().quiet; }
  Duration target() const { return base_rtt() * 3 / 4; }
  std::size_t first() const { return first_; }
  const std::vector<Arrival>& flight() const { return flight_; }
  Receiver& receiver() { return *receiver_; }

 private:
  bool take(Duration within) {
    const auto a = receiver_->take(within);
    if (a) receiver_->place(*a), flight_.push_back(*a);
    return a.has_value();
  }

  Bench& bench_;
  std::optional<Receiver> receiver_;
  std::vector<Arrival> flight_;
  std::size_t first_ = 0;
};

Outcome silent() { return fail("a QP with a CC profile sent nothing"); }

std::string packets(std::size_t n) { return std::to_string(n) + (n == 1 ? " packet" : " packets"); }

Outcome window_of_profile(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  std::uint64_t bytes = 0;
  for (const Arrival& a : flow.flight()) bytes += engine::cc_bytes(a.write);
  if (bytes > b.terms().congestion.window)
    return fail(std::to_string(bytes) + " bytes in flight, where the profile's maximum window is " +
                std::to_string(b.terms().congestion.window));
  return flow.round({}) > 0 ? pass() : fail("a SACK of everything did not open the window");
}

Outcome marks_and_delay(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  const std::size_t last = flow.shrink();
  return last * 10 <= flow.first() * 8 ? pass()
                                       : fail("marks at three times the base RTT left " + packets(last) +
                                              " in flight, of " + packets(flow.first()));
}

Outcome mark_alone(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  std::size_t last = 0;
  for (int i = 0; i < 4; ++i) last = std::max(flow.round({.mark = SackMark::skip_once}), i < 2 ? 0 : last);
  return last * 10 >= flow.first() * 9 ? pass()
                                       : fail("marks without delay took the flight from " +
                                              packets(flow.first()) + " to " + std::to_string(last));
}

Outcome grows_again(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  const std::size_t low = flow.shrink();
  if (low * 10 > flow.first() * 8) return skip("the window did not shrink; congestion_marks tells");
  std::size_t last = 0;
  for (int i = 0; i < kRoundsToGrow && last * 10 < low * 13; ++i) last = flow.round({});
  return last * 10 >= low * 13 ? pass()
                               : fail("without marks and delay the flight stayed at " + packets(last));
}

// Of what was trimmed nothing is in flight any more, and the window has shrunk by as much or more: there is
// no room for repairs before the rest is answered.
Outcome trims_shrink(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  const std::vector<Arrival> sent = flow.flight();
  for (std::size_t i = 0; i < sent.size() / 2; ++i) flow.receiver().nack(sent[i], wire::NackReason::trimmed);
  const std::size_t more = flow.fill(b.settings().quiet);
  return more * 8 <= sent.size() ? pass()
                                 : fail("after trims of half of " + packets(sent.size()) +
                                        " in flight it sent " + packets(more) + " at once");
}

Outcome penalty_shrinks(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  const std::size_t last = flow.round({.penalty = 127});
  return last * 4 <= flow.first() ? pass()
                                  : fail("the highest receiver penalty left " + packets(last) +
                                         " in flight, of " + packets(flow.first()));
}

// The SACK is marked, so that nothing but its word can raise the window.
Outcome penalty_restored(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  flow.round({.penalty = 127});
  const std::size_t last = flow.round({.mark = SackMark::skip_once, .restore = true});
  return last * 10 >= flow.first() * 9
             ? pass()
             : fail("restore_cwnd brought " + packets(last) + " into flight, before the penalty there were " +
                    std::to_string(flow.first()));
}

Outcome base_rtt_falls(Bench& b) {
  Flow flow(b);
  if (!flow.begin()) return silent();
  std::size_t last = flow.first();
  // Long before the base RTT; more than once, because both programs may be kept from their cores for so long.
  for (int i = 0; i < 4 && last * 2 > flow.first() && !flow.flight().empty(); ++i) {
    flow.receiver().sack(flow.flight().back());
    last = flow.fill();
  }
  return last * 2 <= flow.first() ? pass()
                                  : fail("a round trip of a fraction of the base left " + packets(last) +
                                         " in flight, of " + packets(flow.first()));
}

constexpr Needs kNeeds{.post = true, .congestion = true};
constexpr Check kChecks[] = {
    {"congestion_window", "MRC-CC-010", Role::requestor, "no more is in flight than the window allows",
     window_of_profile, kNeeds},
    {"congestion_marks", "MRC-CC-005", Role::requestor, "marks at a delay above target shrink the window",
     marks_and_delay, kNeeds},
    {"congestion_mark_alone", "MRC-CC-006", Role::requestor, "a mark without delay leaves the window alone",
     mark_alone, kNeeds},
    {"congestion_grows", "MRC-CC-003", Role::requestor, "without marks and delay the window grows again",
     grows_again, kNeeds},
    {"congestion_trims", "MRC-CC-013", Role::requestor, "a trim costs the window at least its size",
     trims_shrink, kNeeds},
    {"congestion_penalty", "MRC-CC-016", Role::requestor, "a receiver penalty shrinks the window",
     penalty_shrinks, kNeeds},
    {"congestion_restore", "MRC-CC-017", Role::requestor, "restore_cwnd brings it back", penalty_restored,
     kNeeds},
    {"congestion_base_rtt", "MRC-CC-009", Role::requestor,
     "a lower round trip lowers the base and the maximum window", base_rtt_falls, kNeeds},
};

}  // namespace

std::span<const Check> congestion_checks() { return kChecks; }

}  // namespace mrc::conform
