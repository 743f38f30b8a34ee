// `mrc sim` as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/run_mrc.h"

namespace mrc::tools::testing {
namespace {

using ::testing::HasSubstr;

const std::string kData = MRC_SOURCE_DIR "/tests/data/htsim/";

TEST(Sim, RunsThePeersFiles) {
  const auto ran =
      run_mrc({"sim", "--cm", kData + "perm_128_2000000.cm", "--topo", kData + "ls_128_400g.topo", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("\"flows\":128,\"failed\":0,\"unfinished\":0"));
}

TEST(Sim, RunsAPatternOnAFabric) {
  const auto ran = run_mrc({"sim", "--pattern", "ring_allreduce", "--planes", "2", "--t0", "2", "--t1", "2",
                            "--hosts-per-t0", "2"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("24 flows, 0 failed"));
}

TEST(Sim, SaysWhatIsWrong) {
  EXPECT_THAT(run_mrc({"sim"}).err, HasSubstr("--pattern"));
  EXPECT_THAT(run_mrc({"sim", "--pattern", "x"}).err, HasSubstr("all_to_all"));
  EXPECT_THAT(run_mrc({"sim", "--pattern", "incast", "--ranks", "1000"}).err, HasSubstr("--ranks"));
  EXPECT_EQ(run_mrc({"sim", "--cm", "/nowhere"}).status, 1);
}

}  // namespace
}  // namespace mrc::tools::testing
