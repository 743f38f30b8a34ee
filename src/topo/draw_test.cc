#include "topo/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topo/shapes_for_test.h"

namespace mrc::topo {
namespace {

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Draw, EveryCableAndNodeOfASmallFabricIsThere) {
  for (const Spec& spec : small_shapes()) {
    const auto topo = *Topology::make(spec);
    const std::string svg = draw_svg(topo, {.max_per_row = 100});
    EXPECT_EQ(count(svg, "<line "), static_cast<int>(topo.links()));
    EXPECT_EQ(count(svg, "rx=\"4\""), static_cast<int>(topo.switches() + topo.planes() * topo.hosts()));
    for (std::uint32_t l = 0; l < topo.links(); ++l) {
      EXPECT_THAT(svg, testing::HasSubstr("<title>" + topo.name(LinkId(l)) + "</title>"));
    }
    EXPECT_THAT(svg, testing::Not(testing::HasSubstr("drawn")));
  }
}

TEST(Draw, TheLargestFabricFitsAPageAndSaysWhatIsLeftOut) {
  const auto topo = *Topology::make(published());
  const std::string svg = draw_svg(topo);
  EXPECT_LT(svg.size(), 2'000'000u);
  EXPECT_THAT(svg, testing::HasSubstr("16 of 131072 drawn"));
  EXPECT_THAT(svg, testing::HasSubstr("<title>p7.t0.511-p7.t1.255</title>"));
}

}  // namespace
}  // namespace mrc::topo
