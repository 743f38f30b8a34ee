#include "nic/refusals.h"

#include <gtest/gtest.h>

namespace mrc::nic {
namespace {

TEST(Refusals, WhatSeveralWaysBringAboutIsNone) {
  Counters<Verdict, kVerdictCount> verdicts;
  for (int i = 0; i < kVerdictCount; ++i) verdicts.add(static_cast<Verdict>(i));
  EXPECT_EQ(refusals(verdicts), static_cast<std::uint64_t>(kVerdictCount - 4));
  for (const Verdict v : {Verdict::ok, Verdict::duplicate, Verdict::stale, Verdict::trimmed_ok})
    EXPECT_FALSE(is_refusal(v)) << name(v);
  for (const Verdict v :
       {Verdict::bad_icrc, Verdict::unknown_qp, Verdict::wrong_peer, Verdict::out_of_window})
    EXPECT_TRUE(is_refusal(v)) << name(v);
}

}  // namespace
}  // namespace mrc::nic
