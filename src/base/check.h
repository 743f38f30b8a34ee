// Checks for what can only go wrong when we are wrong. A failed check stops the program with a sentence;
// a storm adds its seed through the hook. Peer misbehaviour is never a check: it is a Verdict.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace mrc {

/// Called, when set, before a failed check aborts: the storm prints the seed that replays the failure.
inline void (*on_check_failure)() = nullptr;

[[noreturn]] inline void check_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "check failed: %s (%s:%d)\n", what, file, line);
  if (on_check_failure != nullptr) on_check_failure();
  std::abort();
}

}  // namespace mrc

#define MRC_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::mrc::check_failed(#condition, __FILE__, __LINE__))
