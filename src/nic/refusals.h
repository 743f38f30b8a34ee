// How many arrivals were no packet for us: what an operator should look into.
#pragma once

#include <cstdint>

#include "base/counters.h"
#include "wire/verdict.h"

namespace mrc::nic {

/// Over several ways duplicates, answers that were overtaken and trimmed packets are everyday things; the QPs
/// count and answer them.
constexpr bool is_refusal(Verdict v) {
  return v != Verdict::ok && v != Verdict::duplicate && v != Verdict::stale && v != Verdict::trimmed_ok;
}

inline std::uint64_t refusals(const Counters<Verdict, kVerdictCount>& verdicts) {
  std::uint64_t sum = 0;
  for (int i = 0; i < kVerdictCount; ++i) {
    if (const auto v = static_cast<Verdict>(i); is_refusal(v)) sum += verdicts[v];
  }
  return sum;
}

}  // namespace mrc::nic
