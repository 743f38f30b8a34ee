// A simulation that is watched: its frames, its faults by hand, its pace.
#include "view/sim_source.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenario/document.h"

namespace mrc::view {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr const char* kScenario = R"(
name = "two racks"
[topology]
planes = 2
t0 = 2
t1 = 2
hosts_per_t0 = 2
rate = "100G"
delay = "500ns"
[transport]
evs = 8
[[job]]
kind = "streams"
bytes = "64KiB"
pairs = [[0, 2], [1, 3]]
[limits]
time = "1s"
)";

class Watched : public ::testing::Test {
 protected:
  void SetUp() override {
    auto document = scenario::Document::parse(kScenario, "test.toml");
    ASSERT_TRUE(document);
    auto scenario = document->scenario();
    ASSERT_TRUE(scenario) << scenario.error().what;
    auto made = SimSource::make(std::move(*scenario), {.pace = 1e-3, .frame_every = 10ms});
    ASSERT_TRUE(made) << made.error().what;
    source = std::move(*made);
    source->start([this](std::string frame) {
      const std::lock_guard lock(mutex);
      frames.push_back(json::parse(frame));
      came.notify_all();
    });
  }
  std::size_t mark() {
    const std::lock_guard lock(mutex);
    return frames.size();
  }
  /// The first frame, from a mark or from now on, that `wanted` likes; null after half a minute.
  json until(const std::function<bool(const json&)>& wanted, std::size_t from = SIZE_MAX) {
    std::unique_lock lock(mutex);
    std::size_t next = std::min(from, frames.size());
    json found;
    came.wait_for(lock, 30s, [&] {
      for (; next < frames.size(); ++next) {
        if (wanted(frames[next])) return found = frames[next], true;
      }
      return false;
    });
    return found;
  }

  std::mutex mutex;
  std::condition_variable came;
  std::vector<json> frames;
  std::unique_ptr<SimSource> source;  // last: its thread uses the rest
};

TEST_F(Watched, TellsRatesOfPlanesAndQueuePairs) {
  const json f = until([](const json& frame) { return frame["t"] > 20'000; });
  ASSERT_TRUE(f.is_object());
  ASSERT_EQ(f["planes"].size(), 2u);
  EXPECT_GT(f["planes"][0].get<double>(), 50e9);
  EXPECT_GT(f["total"]["goodput"].get<double>(), 100e9);
  ASSERT_EQ(f["qps"].size(), 2u);
  EXPECT_EQ(f["qps"][0]["evs"].get<std::string>().size(), 4u);  // two uplinks in each of two planes
  EXPECT_EQ(f["qps"][0]["ways"].size(), 12u);
  EXPECT_FALSE(f["packets"].empty());
}

TEST_F(Watched, BreaksAndHealsWhatItIsTold) {
  ASSERT_TRUE(source->act({.verb = Action::Verb::fail, .target = "p0.t0.0-p0.t1.1"}));
  const json broken = until([](const json& f) { return f["faults"].size() == 2; });
  ASSERT_TRUE(broken.is_object());
  EXPECT_EQ(broken["faults"][0][1], "down");
  // The paths over it are given up, the others carry on.
  EXPECT_TRUE(until([](const json& f) { return f["qps"][0]["counts"][2] == 1; }).is_object());
  EXPECT_TRUE(until([](const json& f) { return f["total"]["goodput"] > 100e9; }).is_object());
  ASSERT_TRUE(source->act({.verb = Action::Verb::heal}));
  EXPECT_TRUE(until([](const json& f) { return f["faults"].empty(); }).is_object());
  EXPECT_TRUE(until([](const json& f) { return f["qps"][0]["counts"][0] == 4; }).is_object());
}

TEST_F(Watched, StandsStillWhileItIsPausedAndBeginsAgain) {
  ASSERT_TRUE(until([](const json& f) { return f["t"] > 0; }).is_object());
  ASSERT_TRUE(source->act({.verb = Action::Verb::pause}));
  ASSERT_TRUE(source->act({.verb = Action::Verb::resume}));
  ASSERT_TRUE(until([](const json& f) { return f["t"] > 0; }).is_object());
  const std::size_t before = mark();
  ASSERT_TRUE(source->act({.verb = Action::Verb::restart}));
  EXPECT_TRUE(until([](const json& f) { return f["t"] == 0; }, before).is_object());
}

TEST_F(Watched, RefusesWhatIsNotThere) {
  EXPECT_FALSE(source->act({.verb = Action::Verb::fail, .target = "p7.t0.0"}));
  EXPECT_FALSE(source->act({.verb = Action::Verb::fail}));
  EXPECT_FALSE(source->act({.verb = Action::Verb::focus, .plane = 2}));
}

}  // namespace
}  // namespace mrc::view
