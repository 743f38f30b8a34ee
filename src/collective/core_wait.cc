#include "collective/core_wait.h"

#include <fstream>
#include <sstream>

namespace mrc::collective {
namespace {

std::uint64_t waited_so_far() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::string text;
  std::getline(file, text);
  return waited_ns(text).value_or(0);
}

}  // namespace

std::optional<std::uint64_t> waited_ns(const std::string& schedstat) {
  std::istringstream in(schedstat);
  std::uint64_t ran = 0, waited = 0;
  if (!(in >> ran >> waited)) return std::nullopt;
  return waited;
}

CoreWait::CoreWait() : waited_(waited_so_far()) {}

double CoreWait::share() const {
  const std::chrono::duration<double, std::nano> passed = Clock::now() - began_;
  return static_cast<double>(waited_so_far() - waited_) / passed.count();
}

}  // namespace mrc::collective
