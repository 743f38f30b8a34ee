#include "port/address.h"

#include <gtest/gtest.h>

namespace mrc::port {
namespace {

TEST(Address, ReadsBothFamilies) {
  const auto v4 = parse_address("10.1.2.3");
  ASSERT_TRUE(v4);
  EXPECT_TRUE(v4->is_v4());
  EXPECT_EQ(v4->ip[15], 3);
  EXPECT_EQ(to_string(*v4), "10.1.2.3");
  const auto v6 = parse_address("fd00:1::2");
  ASSERT_TRUE(v6);
  EXPECT_FALSE(v6->is_v4());
  EXPECT_EQ(to_string(*v6), "fd00:1::2");
}

TEST(Address, ReadsTheZoneOfALinkLocalAddress) {
  const auto local = parse_address("fe80::1%lo");
  ASSERT_TRUE(local);
  EXPECT_EQ(local->scope, 1u);
  EXPECT_EQ(parse_address("fe80::1%nosuchlink").error().code, ENODEV);
}

TEST(Address, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "10.1.2", "fd00::1::2", "host", "10.0.0.1%lo", "%"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
}

TEST(Address, KnowsTheUnspecified) {
  EXPECT_TRUE(parse_address("::")->is_any());
  EXPECT_TRUE(parse_address("0.0.0.0")->is_any());
  EXPECT_FALSE(parse_address("::1")->is_any());
}

TEST(Address, TravelsThroughASocketAddress) {
  for (const char* text : {"10.1.2.3", "fd00:1::2", "fe80::7%1"}) {
    const Address address = *parse_address(text);
    const SocketAddress socket = to_socket_address(address, 4791, 0x12345);
    EXPECT_EQ(from_socket_address(socket.any), address) << text;
    if (address.is_v4()) continue;
    EXPECT_EQ(ntohl(socket.v6.sin6_flowinfo), 0x12345u);
  }
}

}  // namespace
}  // namespace mrc::port
