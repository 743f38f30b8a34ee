// What a QP holds of the congestion window is never nothing while something is in flight, however many copies
// of it arrive.
#include "engine/script.h"
#include "engine/sizes.h"

namespace mrc::engine {
namespace {

constexpr int kRound = 16;  // one packet by each EV
constexpr std::int64_t kBytes = cc_bytes(4096, true, false);

class BooksTest : public Script {
 protected:
  static std::uint32_t units(int packets) { return static_cast<std::uint32_t>(packets * kBytes / 256); }

  /// Of two packets by each EV the second ones are reported: the first ones count as lost, and leave again.
  void give_up_a_round() {
    evs = kRound;
    start();
    post(4096 * 2 * kRound);
    ASSERT_EQ(drain().size(), 2u * kRound);
    now += 5us;
    sack(Psn(99), 0xFFFF'0000, wire::SackMark::none, units(kRound));
    ASSERT_EQ(qp->requestor().counters().lost_by_order, 1u * kRound);
    drain();
    ASSERT_EQ(qp->requestor().counters().repairs, 1u * kRound);
  }
  int in_flight() const { return qp->requestor().flight().in_flight(); }
};

// MRC-CC-029: both copies leave the flight, but the second took nobody else's place in it.
TEST_F(BooksTest, APacketThatArrivesTwiceLeavesTheFlightOnce) {
  give_up_a_round();
  post(4096 * kRound);
  drain();
  now += 5us;
  sack(Psn(131), 0, wire::SackMark::none, units(kRound));  // they were late, not lost
  now += 5us;
  sack(Psn(131), 0, wire::SackMark::none, units(kRound));  // and here are the repairs
  ASSERT_EQ(in_flight(), kRound);
  EXPECT_GE(window.in_flight(), kRound * kBytes);
}

// MRC-CC-029: a message of a few bytes is a flight of a few bytes.
TEST_F(BooksTest, WhatIsMissingCountsByItsOwnSize) {
  give_up_a_round();
  for (int i = 0; i < kRound; ++i) post(64);
  drain();
  now += 5us;
  sack(Psn(131), 0, wire::SackMark::none, units(kRound));
  now += 5us;
  sack(Psn(131), 0b1111, wire::SackMark::none, units(kRound) + 2);
  ASSERT_EQ(in_flight(), kRound - 4);
  EXPECT_EQ(window.in_flight(), (kRound - 4) * std::int64_t{cc_bytes(64, true, false)});
}

// A loss that was one is counted as ever: nothing arrived twice.
TEST_F(BooksTest, ARepairOfWhatWasLostTakesNoMoreThanItsPlace) {
  give_up_a_round();
  post(4096 * kRound);
  drain();
  now += 5us;
  sack(Psn(131), 0, wire::SackMark::none, units(kRound));
  ASSERT_EQ(in_flight(), kRound);
  EXPECT_NEAR(static_cast<double>(window.in_flight()), static_cast<double>(kRound * kBytes), 512);
}

}  // namespace
}  // namespace mrc::engine
