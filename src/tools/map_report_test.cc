// What `mrc map` says of a link that loses before there are enough probes to call it lossy.
#include "tools/map_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mrc::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct MapReport : ::testing::Test {
  /// h0's probes to its first T0: so many, and of these so many lost.
  void probe(std::uint32_t window, std::uint32_t lost) {
    map::Observation o;
    o.condition = map::Condition::good;
    o.answered_at = now;
    o.window = window;
    o.lost = lost;
    survey.observe(now, map::HostId(0), {o});
    survey.advance(now);
  }
  MapPicture picture() const { return {topo, survey, {}, 1s, Time{}}; }

  topo::Topology topo = *topo::Topology::make({.planes = 1, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 1});
  map::Survey survey{topo, {}};
  Time now{5s};
};

TEST_F(MapReport, ALinkThatLosesIsNotWell) {
  probe(50, 4);
  const std::string text = map_text(picture(), false);
  EXPECT_THAT(text, HasSubstr("not certain yet: h0-p0.t0.0 may lose 8.0 %; give it more --seconds\n"));
  EXPECT_THAT(text, Not(HasSubstr("nothing is wrong")));
  EXPECT_THAT(
      map_json(picture()),
      HasSubstr(
          R"("findings":[],"suspects":[{"what":"h0-p0.t0.0","kind":"link","fault":"lossy","loss":0.0)"));
}

TEST_F(MapReport, OneThatLosesNothingIs) {
  probe(50, 0);
  EXPECT_THAT(map_text(picture(), false), HasSubstr("nothing is wrong\n"));
  EXPECT_THAT(map_json(picture()), HasSubstr(R"("suspects":[])"));
}

TEST_F(MapReport, WithoutProbesNothingIsKnown) {
  EXPECT_THAT(map_text(picture(), false), Not(HasSubstr("nothing is wrong")));
}

}  // namespace
}  // namespace mrc::tools
