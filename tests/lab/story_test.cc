// A transfer over the real kernel while its fabric breaks: every byte arrives, nothing fails.
#include "hosts.h"
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
void expect_flawless(Lab& lab, const std::vector<Phase>& phases) {
  const auto result = tools::run_story(lab, "h0", "h1", phases, [](auto...) {});
  ASSERT_TRUE(result) << result.error().what;
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
  expect_flawless(lab, phases);
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

// R7: a path that loses a fifth of its packets.
TEST(LabStory, ALossyPath) {
  MRC_LAB_OR_SKIP(lab, fabric(), {});
  expect_flawless(lab, {{"loses", [](Lab& l) { return l.drop("p0.t0.0>p0.t1.0", 0.2); }, 1}, heals()});
}

}  // namespace
}  // namespace mrc
