// `mrc collective` between processes over loopback: every value compared.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tools/run_mrc.h"

namespace mrc::tools {
namespace {

using testing::Outcome;
using testing::run_mrc;

struct Collective : ::testing::Test {
  Collective() {
    ::setenv("MRC_UDP_PORT", "14819", 1);
    ::unsetenv("MRC_DEVICES");
  }
  ~Collective() override { ::unsetenv("MRC_UDP_PORT"); }
};

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST_F(Collective, TwoRanksAgreeOnOddAndEvenSizes) {
  const Outcome o = run_mrc({"collective", "--ranks", "2", "--port", "18700", "--sizes", "0,8,4100,300001,1M",
                             "--seconds", "0.01", "--json"});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  EXPECT_EQ(count(o.out, "\"wrong\":0"), 15) << o.out;
  EXPECT_EQ(count(o.out, "\"operation\":\"tree_all_reduce\",\"ranks\":2"), 5) << o.out;
}

TEST_F(Collective, FourRanksAndATable) {
  const Outcome o = run_mrc(
      {"collective", "--ranks", "4", "--port", "18710", "--sizes", "12,64K,999999", "--seconds", "0.01"});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  EXPECT_NE(o.out.find("4 ranks\noperation"), std::string::npos) << o.out;
  EXPECT_EQ(count(o.out, "ring_all_reduce"), 3) << o.out;
  EXPECT_EQ(count(o.out, "all_to_all"), 3) << o.out;
}

TEST_F(Collective, AnOddNumberOfRanks) {
  const Outcome o = run_mrc(
      {"collective", "--ranks", "3", "--port", "18720", "--sizes", "100K", "--seconds", "0.01", "--json"});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  EXPECT_EQ(count(o.out, "\"wrong\":0"), 3) << o.out;
}

TEST_F(Collective, NonsenseIsRefusedWithASentence) {
  EXPECT_NE(run_mrc({"collective", "--peers", "10.0.0.1,10.0.0.2"}).err.find("--rank N"), std::string::npos);
  EXPECT_NE(run_mrc({"collective", "--sizes", "2G"}).err.find("at most 1 GiB"), std::string::npos);
}

}  // namespace
}  // namespace mrc::tools
