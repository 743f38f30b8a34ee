// EV expansion: which bits of an EV become which bits on the wire.
#include "node/expansion.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <initializer_list>

namespace mrc::node {
namespace {

EvBits bits(std::initializer_list<int> bytes) {
  EvBits out{};
  std::size_t i = 0;
  for (const int byte : bytes) out[i++] = static_cast<std::uint8_t>(byte);
  return out;
}

using Widths = std::vector<std::uint8_t>;
using Fields = std::vector<EvField>;

struct Case {
  const char* what;
  Widths widths;
  Fields fields;
  EvBits ev, wire;
};

class Expansion : public testing::TestWithParam<Case> {};

TEST_P(Expansion, GivesTheWireBits) {  // MRC-CTL-010
  const auto& c = GetParam();
  ASSERT_EQ(check_fields(c.fields, c.widths), 0);
  ASSERT_TRUE(fits(c.ev, c.fields));
  EXPECT_EQ(expand(c.ev, c.fields, c.widths), c.wire);
}

INSTANTIATE_TEST_SUITE_P(All, Expansion,
                         testing::Values(Case{"whole fields pass through",
                                              {16, 16},
                                              {{16, 0, 0, 0, 0xffff}, {16, 0, 0, 0, 0xffff}},
                                              bits({0xf3, 0xb0, 0x42, 0x56}),
                                              bits({0xf3, 0xb0, 0x42, 0x56})},
                                         Case{"one field of 32 bits",
                                              {32},
                                              {{32, 0, 0, 0, 0xffffffff}},
                                              bits({0x67, 0xfb, 0x6a, 0x4e}),
                                              bits({0x67, 0xfb, 0x6a, 0x4e})},
                                         Case{"fixed bits around the EV's",
                                              {16, 16},
                                              {{16, 0x100, 1, 15, 0xf}, {16, 0x200, 1, 15, 0xf}},
                                              bits({0xa4}),
                                              bits({0x01, 0x0a, 0x02, 0x04})},
                                         Case{"a mask with a hole",
                                              {16, 16},
                                              {{16, 0x1000, 1, 255, 0xf0f}, {16, 0x2000, 1, 255, 0xf0f}},
                                              bits({0x33, 0x12}),
                                              bits({0x13, 0x03, 0x21, 0x02})},
                                         Case{"a clear EV bit clears what init has set",
                                              {8},
                                              {{8, 0xff, 0, 3, 0x81}},
                                              bits({0x40}),
                                              bits({0x7f})},
                                         Case{"a field without EV bits",
                                              {32, 16},
                                              {{32, 0xcafecafe, 0, 0, 0}, {16, 0, 0, 0, 0xffff}},
                                              bits({0x43, 0xba}),
                                              bits({0xca, 0xfe, 0xca, 0xfe, 0x43, 0xba})},
                                         Case{"fewer fields than the format",
                                              {32, 16, 16},
                                              {{32, 0xdeaddead, 0, 0, 0}},
                                              bits({}),
                                              bits({0xde, 0xad, 0xde, 0xad})},
                                         Case{"narrow fields stand right in wide places",
                                              {16, 16},
                                              {{4, 0, 1, 15, 0xf}, {4, 0, 1, 15, 0xf}},
                                              bits({0x78}),
                                              bits({0x00, 0x07, 0x00, 0x08})},
                                         Case{"a place of more than 32 bits",
                                              {64, 8},
                                              {{8, 0, 0, 255, 0xff}, {8, 1, 0, 0, 0}},
                                              bits({0xaa}),
                                              bits({0, 0, 0, 0, 0, 0, 0, 0xaa, 1})}),
                         [](const auto& one) { return "Case" + std::to_string(one.index); });

TEST(ExpansionRules, Fields) {
  const Widths widths{16, 16};
  const struct {
    Fields fields;
    int error;
  } cases[] = {
      {{}, EINVAL},
      {{{16, 0, 0, 0, 0xffff}, {16, 0, 0, 0, 1}, {1, 0, 0, 0, 0}}, E2BIG},  // more fields than the format
      {{{17, 0, 0, 0, 0}}, EINVAL},                                         // wider than its place
      {{{0, 0, 0, 0, 0}}, EINVAL},
      {{{33, 0, 0, 0, 0}}, EINVAL},
      {{{8, 0x100, 0, 0, 0}}, EINVAL},  // init beyond the width
      {{{8, 0, 0, 0, 0x100}}, EINVAL},  // mask beyond the width
      {{{8, 0, 0, 16, 0x0f}}, EINVAL},  // max beyond the mask's bits
      {{{8, 0, 5, 4, 0x0f}}, EINVAL},   // min above max
      {{{8, 0, 0, 15, 0x0f}}, 0},
  };
  for (const auto& c : cases) EXPECT_EQ(check_fields(c.fields, widths), c.error);
}

TEST(ExpansionRules, BitsBeyondTheUsedOnesAreRefused) {
  const Fields fields{{8, 0, 0, 15, 0x0f}};
  EXPECT_TRUE(fits(bits({0xf0}), fields));
  EXPECT_FALSE(fits(bits({0xf8}), fields));
  EXPECT_FALSE(fits(bits({0, 0, 0, 0, 1}), fields));
}

TEST(ExpansionRules, Widths) {
  EXPECT_EQ(check_widths(FormatMode::udp, Widths{8, 8}, 32), 0);
  EXPECT_EQ(check_widths(FormatMode::udp, Widths{8, 9}, 32), E2BIG);
  EXPECT_EQ(check_widths(FormatMode::stev, Widths{16, 17}, 32), E2BIG);
  EXPECT_EQ(check_widths(FormatMode::srv6, Widths{128, 128}, 32), 0);
  EXPECT_EQ(check_widths(FormatMode::srv6, Widths{128, 128, 1}, 32), E2BIG);
  EXPECT_EQ(check_widths(FormatMode::stev, Widths{}, 32), EINVAL);
  EXPECT_EQ(check_widths(FormatMode::stev, Widths{8, 0}, 32), EINVAL);
  EXPECT_EQ(check_widths(FormatMode::stev, Widths(33, 1), 32), E2BIG);
}

}  // namespace
}  // namespace mrc::node
