#include "base/ipv6.h"

#include <gtest/gtest.h>

namespace mrc {
namespace {

TEST(Ipv6, ReadsAndWritesItsShortForm) {
  for (const char* text : {"::", "::1", "1::", "fcbb:bb00:4001:8002::", "1:2:3:4:5:6:7:8", "1:0:3::6:0:8",
                           "fd4d:5243:0:3::11"}) {
    const auto a = parse_ipv6(text);
    ASSERT_TRUE(a) << text;
    EXPECT_EQ(to_string(*a), text);
  }
  EXPECT_EQ(to_string(*parse_ipv6("0001:0:0:0:0:0:0:000A")), "1::a");
  EXPECT_EQ(to_string(*parse_ipv6("1:0:3:4:5:6:7:8")), "1:0:3:4:5:6:7:8") << "one zero group is not a run";
}

TEST(Ipv6, RefusesWhatIsNoAddress) {
  for (const char* text : {"", ":", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3",
                           "12345::", "g::", "1:::2", "1:2:3:4:5:6:7::8", "::1 ", "1:"}) {
    EXPECT_FALSE(parse_ipv6(text)) << text;
  }
}

TEST(Ipv6, PrefixHoldsItsAddresses) {
  const auto p = parse_ipv6_prefix("fcbb:bb00::/32");
  ASSERT_TRUE(p);
  EXPECT_EQ(to_string(*p), "fcbb:bb00::/32");
  EXPECT_TRUE(p->contains(*parse_ipv6("fcbb:bb00:ffff::1")));
  EXPECT_FALSE(p->contains(*parse_ipv6("fcbb:bb01::")));
  EXPECT_TRUE(parse_ipv6_prefix("::/0")->contains(*parse_ipv6("ff::")));
  EXPECT_FALSE(parse_ipv6_prefix("fe80::/10")->contains(*parse_ipv6("fec0::")));
  for (const char* text : {"::", "::/", "::/129", "::/-1", "fcbb::1/32", "::/6x"}) {
    EXPECT_FALSE(parse_ipv6_prefix(text)) << text;
  }
}

}  // namespace
}  // namespace mrc
