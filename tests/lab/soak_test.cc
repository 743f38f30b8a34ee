// Random faults, one after the other, for as long as MRC_SOAK_SECONDS says; every byte arrives, nothing
// fails. One seed gives one sequence of faults (MRC_SOAK_SEED).
#include <cstdlib>

#include "base/prng.h"
#include "hosts.h"
#include "tools/lab_story.h"

namespace mrc {
namespace {

using lab::Lab;
using tools::Phase;

double number_from(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atof(text) : otherwise;
}

/// Any fault of any kind, but never of plane 0 as a whole: a path remains.
Phase random_fault(Prng& random) {
  const auto pick = [&](std::uint32_t n) { return std::to_string(random.below(n)); };
  const std::string plane = "p" + pick(4), spared = "p" + std::to_string(1 + random.below(3));
  const std::string cable = plane + ".t0." + pick(2) + "-" + plane + ".t1.0";
  const std::string one_way = plane + ".t0." + pick(2) + ">" + plane + ".t1.0";
  const bool silent = random.below(2) == 0;
  const std::string how = silent ? ", silent" : "";
  const auto failing = [=](const std::string& target) {
    return Phase{target + how, [=](Lab& l) { return l.fail(target, silent); }};
  };
  switch (random.below(8)) {
    case 0: return failing(cable);
    case 1: return {one_way, [=](Lab& l) { return l.fail(one_way, true); }};
    case 2: return failing(plane + ".t1.0");
    case 3: return failing(spared + ".t0.0");
    case 4: return failing("h1." + spared);
    case 5: return failing(spared);
    case 6: return {one_way + ", lossy", [=](Lab& l) { return l.drop(one_way, 0.2); }};
    default:
      return {cable + ", flapping" + how, [=](Lab& l) {
                using std::chrono::milliseconds;
                return l.flap(cable, milliseconds(15), milliseconds(25), 8, silent);
              }};
  }
}

TEST(LabSoak, RandomFaults) {
  const double seconds = number_from("MRC_SOAK_SECONDS", 1800);
  Prng random(static_cast<std::uint64_t>(number_from("MRC_SOAK_SEED", 1)));
  MRC_LAB_OR_SKIP(lab, *topo::Topology::make({.planes = 4, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 1}),
                  {});
  std::vector<Phase> phases;
  for (double planned = 0; planned < seconds; planned += phases.back().seconds) {
    // Up to three faults at a time, then all is healed.
    const bool heal = phases.size() % 4 == 3;
    phases.push_back(heal ? Phase{"healed", [](Lab& l) { return l.heal(); }} : random_fault(random));
    phases.back().seconds = 0.2 + 0.001 * static_cast<double>(random.below(600));
  }
  phases.push_back({"healed", [](Lab& l) { return l.heal(); }, 1});
  const auto result = tools::run_story(lab, {{"h0", "h1"}, {"h1", "h0"}}, phases, [](auto...) {});
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_TRUE(result->flawless());
  std::int64_t longest = 0;
  for (const auto& p : result->phases) {
    longest = std::max(longest, p.longest_gap_ns);
    if (p.longest_gap_ns > 1'000'000'000)
      std::printf("%zu: %s: a gap of %.1f ms, late by %.1f ms\n",
                  static_cast<std::size_t>(&p - result->phases.data()), p.title.c_str(),
                  static_cast<double>(p.longest_gap_ns) / 1e6, static_cast<double>(p.late_ns) / 1e6);
  }
  std::printf("%zu phases, %.1f GB, %lu repairs, %lu retries, longest gap %.1f ms\n", result->phases.size(),
              static_cast<double>(result->receiver.bytes) / 1e9, result->sender.repairs,
              result->sender.retries, static_cast<double>(longest) / 1e6);
}

}  // namespace
}  // namespace mrc
