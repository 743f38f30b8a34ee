// Sentences that several scripts end with.
#pragma once

#include <string>

#include "conform/bench.h"
#include "wire/print.h"

namespace mrc::conform {

inline Outcome nothing_came(std::string_view what) { return fail("no " + std::string(what) + " came"); }

inline Outcome unexpected(std::string_view wanted, const Heard& heard) {
  return fail("expected " + std::string(wanted) + ", got " + wire::one_line(heard.parsed.packet));
}

inline std::string times(std::size_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

inline bool all_are(const std::vector<std::uint8_t>& bytes, std::uint8_t value) {
  for (const std::uint8_t b : bytes) {
    if (b != value) return false;
  }
  return true;
}

}  // namespace mrc::conform
