// A transfer over the real kernel while its fabric breaks: every byte arrives, nothing fails.
#include "hosts.h"
#include "tools/lab_account.h"
#include "tools/lab_story.h"

namespace mrc {
namespace {

using lab::Lab;
using tools::Phase;
using tools::StoryResult;

constexpr double kPhase = 0.4;  // seconds

topo::Topology fabric() {
  return *topo::Topology::make({.planes = 4, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 1});
}

Phase fails(const std::string& name, bool silent = false) {
  return {name + " fails", [=](Lab& l) { return l.fail(name, silent); }, kPhase};
}
Phase heals(const std::string& name = {}) {
  return {name + " heals", [=](Lab& l) { return l.heal(name); }, kPhase};
}

/// Runs the phases, and demands that all of it arrived and that data still moved when everything was whole
/// again: the last phase must be a healthy one.
void expect_flawless(
    Lab& lab, const std::vector<Phase>& phases,
    const std::vector<tools::TransferEnds>& transfers = {{"h0", "h1"}}, StoryResult* out = nullptr,
    const tools::StoryWatcher& watch = [](auto...) {}) {
  const auto result = tools::run_story(lab, transfers, phases, watch);
  ASSERT_TRUE(result) << result.error().what;
  for (const tools::Ends& other : result->others)
    EXPECT_TRUE(other.whole()) << other.receiver.messages << " of " << other.sender.messages << " messages";
  if (out != nullptr) *out = *result;
  EXPECT_TRUE(result->flawless()) << result->receiver.messages << " of " << result->sender.messages
                                  << " messages, " << result->receiver.corrupt << " corrupt, "
                                  << result->sender.failed + result->receiver.failed << " failed";
  EXPECT_EQ(result->phases.size(), phases.size());
  EXPECT_EQ(result->sender.ports_up, 0xFu);
}

// R2: NIC-T0 cables fail one by one, until one is left, and return.
TEST(LabStory, NicCablesFailOneByOneAndReturn) {
  MRC_LAB_OR_SKIP(lab, fabric(), {});
  std::vector<Phase> phases;
  for (const int p : {0, 1, 2}) phases.push_back(fails("h0.p" + std::to_string(p)));
  for (const int p : {0, 1, 2}) phases.push_back(heals("h0.p" + std::to_string(p)));
  phases.push_back({"whole", {}, 1});
  StoryResult result;
  expect_flawless(lab, phases, {{"h0", "h1"}}, &result);
  if (::testing::Test::HasFailure()) return;
  // The rate follows the planes that are left: nothing leaves by a dead port, something by each other, unless
  // an end was without a core for so long that all its paths seemed dead to it.
  constexpr auto kKept = static_cast<std::int64_t>(kPhase * 1e9 / 4);
  for (int failed = 0; failed < 3; ++failed) {
    const tools::PhaseResult& phase = result.phases[failed];
    for (int plane = 0; plane < 4; ++plane) {
      const bool used = phase.sent[plane] > 10'000;
      if (plane == failed) continue;  // this one died in the course of it
      if (plane > failed && phase.late_ns >= kKept) continue;
      EXPECT_EQ(used, plane > failed) << failed << " " << plane;
    }
  }
}

// R3 and R4: T0-T1 cables fail in sequence, silently, then others flap together.
TEST(LabStory, FabricCablesFailInSequenceAndFlapTogether) {
  using std::chrono::milliseconds;
  MRC_LAB_OR_SKIP(lab, fabric(), {});
  const auto flap = [](Lab& l) -> Status {
    for (const char* cable : {"p0.t0.1-p0.t1.1", "p1.t0.1-p1.t1.1", "p2.t0.1-p2.t1.1", "p3.t0.1-p3.t1.1"}) {
      if (auto done = l.flap(cable, milliseconds(20), milliseconds(30), 10); !done) return done;
    }
    return Done{};
  };
  expect_flawless(lab, {fails("p0.t0.0-p0.t1.0", true),
                        fails("p1.t0.0-p1.t1.0", true),
                        fails("p2.t0.0-p2.t1.0", true),
                        fails("p3.t0.0>p3.t1.0", true),
                        heals(),
                        {"four cables flap", flap, 0.6},
                        heals()});
}

// R5 and R6: a T1 dies and returns, then a T0.
TEST(LabStory, SwitchesDieAndReturn) {
  MRC_LAB_OR_SKIP(lab, fabric(), {});
  expect_flawless(
      lab, {fails("p1.t1.0"), fails("p2.t1.1", true), heals(), fails("p3.t0.0"), heals(), {"whole", {}, 1}});
}

// Two applications on each host, both ways, share the device's ports while the fabric breaks around them.
TEST(LabStory, TwoProcessesPerHost) {
  using std::chrono::milliseconds;
  MRC_LAB_OR_SKIP(lab, fabric(), {});
  const auto flap = [](Lab& l) { return l.flap("p1.t0.0-p1.t1.1", milliseconds(20), milliseconds(30), 6); };
  expect_flawless(lab, {fails("p0.t0.0-p0.t1.0", true), fails("p2.t1.0"), {"flaps", flap, kPhase}, heals()},
                  {{"h0", "h1"}, {"h1", "h0"}});
}

// R7: EVs that lose a fifth of their packets go out of service.
TEST(LabStory, ALossyPath) {
  MRC_LAB_OR_SKIP(lab, fabric(), {});
  std::array<std::uint32_t, 4> most_bad{};
  expect_flawless(lab, {{"loses", [](Lab& l) { return l.drop("p0.t0.0>p0.t1.0", 0.2); }, 1}, heals()},
                  {{"h0", "h1"}}, nullptr, [&](std::size_t phase, double, const tools::BulkSample& s) {
                    if (phase != 0) return;
                    for (std::size_t p = 0; p < most_bad.size(); ++p)
                      most_bad[p] = std::max<std::uint32_t>(most_bad[p], s.bad_evs[p]);
                  });
  EXPECT_GT(most_bad[0], 0u);
}

TEST(LabStory, AStandstillIsToldWithWhatEachSwitchCounted) {
  MRC_LAB_OR_SKIP(lab, *topo::Topology::make({.planes = 2, .tiers = 2, .t0 = 2, .t1 = 1, .hosts_per_t0 = 1}),
                  {});
  const std::string told = tools::switch_account(lab);
  for (const char* node : {"p0.t0.0 ", "p0.t0.1 ", "p0.t1.0 ", "p1.t0.0 ", "p1.t1.0 "})
    EXPECT_NE(told.find(node), std::string::npos) << told;
  EXPECT_NE(told.find(" d0 "), std::string::npos) << told;
  EXPECT_NE(told.find(" u0 "), std::string::npos) << told;
}

}  // namespace
}  // namespace mrc
