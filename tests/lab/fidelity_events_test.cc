// Does a failure unfold in the same order in the simulator as in a lab? A cable goes silent under a transfer
// and is mended; the sender's engine asks, gives up, withdraws, repairs, and takes back.
#include <algorithm>

#include "fidelity.h"

namespace mrc::testing {
namespace {

constexpr const char* kCable = "p0.t0.0-p0.t1.0";
constexpr std::uint32_t kWindow = 112 * 1024;
constexpr std::uint64_t kWarm = 12;  // messages before the cable is pulled
constexpr int kTrials = 5;           // a busy machine makes suspects of other paths too

using Story = std::vector<std::string>;

void tell(Story& story, const char* what) {
  if (std::find(story.begin(), story.end(), what) == story.end()) story.emplace_back(what);
}

/// What the simulated host's engine says.
struct EngineStory final : engine::EventSink {
  Story story;
  bool suspects = false;

  void on_event(const engine::Event& e) override {
    if (std::get_if<engine::PathSuspected>(&e.body)) suspects = true;
    if (std::get_if<engine::ProbeSent>(&e.body) && suspects) tell(story, "asks");
    if (const auto* l = std::get_if<engine::PacketLost>(&e.body); l && l->cause == engine::LossCause::silence)
      tell(story, "gives packets up");
    if (const auto* s = std::get_if<engine::PacketSent>(&e.body); s && s->repair) tell(story, "repairs");
    const auto* c = std::get_if<engine::PathChanged>(&e.body);
    if (c == nullptr || c->port != topo::nic_port(0)) return;
    if (c->to == engine::EvState::assumed_bad) tell(story, "withdraws EVs");
    if (c->from == engine::EvState::assumed_bad) tell(story, "takes them back");
  }
};

/// The same of the lab's sender, by what it had counted before the cable was pulled. Samples are rarer than
/// events: what came between two of them is told in the order in which the engine does it.
Story sampled_story(const std::vector<tools::BulkSample>& samples, std::size_t pulled) {
  Story out;
  const tools::BulkSample& before = samples[pulled];
  for (std::size_t i = pulled + 1; i < samples.size(); ++i) {
    const tools::BulkSample& s = samples[i];
    const bool were_out = !out.empty() && out.back() != "takes them back" &&
                          std::find(out.begin(), out.end(), "withdraws EVs") != out.end();
    if (s.probes > before.probes) tell(out, "asks");
    if (s.lost_by_silence > before.lost_by_silence) tell(out, "gives packets up");
    if (s.bad_evs[0] > 0) tell(out, "withdraws EVs");
    if (s.repairs > before.repairs) tell(out, "repairs");
    if (were_out && s.bad_evs[0] == 0) tell(out, "takes them back");
  }
  return out;
}

Story simulated_story() {
  scenario::Scenario s = simulated({{0, 2, 0}}, kWindow);
  s.world.end = 8 * sim::kPsPerSecond;
  s.faults.push_back(
      {.fault = {.kind = sim::FaultKind::black_hole, .at = sim::kPsPerSecond, .until = 3 * sim::kPsPerSecond},
       .targets = {kCable}});
  EngineStory sink;
  simulate(s, &sink);
  return sink.story;
}

/// Pulls the cable under a warm transfer, mends it when its EVs are out and their packets repaired, and ends
/// when they are back.
Story lab_story(lab::Lab& lab) {
  std::size_t pulled = 0, mended = 0;
  Samples seen;
  const bool ran = run_in_lab(lab, {{0, 2, 0}}, kWindow, seen, [&](const Samples& all) {
    const auto& own = all[0];
    if (pulled == 0 && own.back().messages >= kWarm && own.back().bad_evs[0] == 0) {
      pulled = own.size() - 1;
      EXPECT_TRUE(lab.fail(kCable, true));
    } else if (pulled != 0 && mended == 0 && own.back().bad_evs[0] > 0 &&
               own.back().repairs > own[pulled].repairs) {
      mended = own.size();
      EXPECT_TRUE(lab.heal(kCable));
    }
    return mended != 0 && own.size() > mended && own.back().bad_evs[0] == 0;
  });
  return ran ? sampled_story(seen[0], pulled) : Story{};
}

TEST(LabFidelity, ASilentCableIsLeftInTheSameOrder) {
  const Story wanted = simulated_story();
  ASSERT_EQ(wanted.size(), 5u) << ::testing::PrintToString(wanted);
  const topo::Topology topo = slow_fabric();
  MRC_FIRST_LAB_OR_SKIP(lab, topo);
  Story found;
  for (int trial = 0; trial < kTrials && found != wanted && !::testing::Test::HasFailure(); ++trial)
    found = lab_story(lab);
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace mrc::testing
