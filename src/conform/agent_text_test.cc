// The lines between tester and device: both ways, and refused when they are nonsense.
#include "conform/agent_text.h"

#include <gtest/gtest.h>

namespace mrc::conform {
namespace {

TEST(AgentText, ConnectBothWays) {
  const auto back = parse_connect(to_text(ConnectRequest{{.timeout = 14, .receives = 3}, "10.0.0.1"}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->tester, "10.0.0.1");
  EXPECT_EQ(back->terms.psn, Terms{}.psn);
  EXPECT_EQ(back->terms.timeout, 14);
  EXPECT_EQ(back->terms.receives, 3);
  EXPECT_FALSE(parse_connect("connect address=10.0.0.1 qpn=1"));
  EXPECT_FALSE(parse_connect(to_text(ConnectRequest{{.timeout = 60}, "10.0.0.1"})));
}

TEST(AgentText, TargetBothWays) {
  const Target t{Qpn(17), Psn(9), RKey(0xDEADBEEF), 1ull << 60, 1 << 20, 256, 8, 32};
  const auto back = parse_target(to_text(t));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->va, t.va);
  EXPECT_EQ(back->rkey, t.rkey);
  EXPECT_EQ(back->qpn, t.qpn);
  EXPECT_FALSE(parse_target("qpn=0x1000000"));
}

TEST(AgentText, WritesAndCompletionsBothWays) {
  const auto writes = parse_writes(to_text(std::vector<PostedWrite>{{1, 64}, {2, 100, true, 7}}));
  ASSERT_TRUE(writes);
  EXPECT_EQ((*writes)[1].imm, 7u);
  EXPECT_FALSE((*writes)[0].has_imm);
  const auto done = parse_completions(
      to_text(std::vector<Completed>{{5, false, engine::WorkStatus::flushed}, {6, true, {}, true, 9}}));
  ASSERT_TRUE(done);
  EXPECT_EQ((*done)[0].status, engine::WorkStatus::flushed);
  EXPECT_TRUE((*done)[1].receive);
  EXPECT_EQ((*done)[1].imm, 9u);
}

TEST(AgentText, NonsenseIsRefused) {
  for (const char* text : {"1", "1:2:3:4", "x:2", "1:99999999999", "1:2:x", ":::"})
    EXPECT_FALSE(parse_writes(text)) << text;
  for (const char* text : {"1:send", "1:send:wonderful", "1:send:success:x"})
    EXPECT_FALSE(parse_completions(text)) << text;
  for (const char* text : {"abc", "zz", "0g"}) EXPECT_FALSE(parse_hex(text)) << text;
  EXPECT_EQ(*parse_hex(to_hex({0, 255, 16})), (std::vector<std::uint8_t>{0, 255, 16}));
}

}  // namespace
}  // namespace mrc::conform
