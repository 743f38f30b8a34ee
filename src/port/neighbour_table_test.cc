#include "port/neighbour_table.h"

#include <gtest/gtest.h>
#include <linux/neighbour.h>

#include <cstring>

namespace mrc::port {
namespace {

constexpr std::uint32_t kInterface = 7;
const wire::IpAddress kWho{{0xFD, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};

/// What the kernel tells of fd77::2.
struct News {
  nlmsghdr header{};
  ndmsg body{};
  rtattr address_head{RTA_LENGTH(16), NDA_DST};
  std::uint8_t address[16];
  rtattr mac_head{RTA_LENGTH(6), NDA_LLADDR};
  std::uint8_t mac[8] = {2, 0, 0, 0, 0, 1};

  News(unsigned short type, unsigned short state, bool with_mac, int interface = kInterface) {
    header.nlmsg_type = type;
    header.nlmsg_len = static_cast<std::uint32_t>(with_mac ? sizeof *this : offsetof(News, mac_head));
    body.ndm_family = AF_INET6;
    body.ndm_ifindex = interface;
    body.ndm_state = state;
    std::memcpy(address, kWho.bytes.data(), sizeof address);
  }
};

TEST(NeighbourTable, SaysWhoseNewsItIsWhenSomethingChanged) {
  NeighbourTable table(kInterface);
  EXPECT_FALSE(table.handle(News(RTM_NEWNEIGH, NUD_REACHABLE, true, 8).header)) << "another interface";
  EXPECT_EQ(table.handle(News(RTM_NEWNEIGH, NUD_REACHABLE, true).header), kWho);
  EXPECT_FALSE(table.handle(News(RTM_NEWNEIGH, NUD_PROBE, true).header)) << "the same MAC";
  ASSERT_NE(table.find(kWho), nullptr);
  EXPECT_FALSE(table.find(kWho)->old);
  EXPECT_EQ(table.handle(News(RTM_NEWNEIGH, NUD_STALE, true).header), kWho);
  EXPECT_TRUE(table.find(kWho)->old);
  for (int i = 0; i < 2; ++i) {  // each time the kernel stops looking
    EXPECT_EQ(table.handle(News(RTM_NEWNEIGH, NUD_FAILED, false).header), kWho);
    EXPECT_FALSE(table.find(kWho)->mac);
  }
  EXPECT_EQ(table.handle(News(RTM_DELNEIGH, NUD_FAILED, false).header), kWho);
  EXPECT_EQ(table.find(kWho), nullptr);
}

// It was looking, and stops: who waits for that has to ask again.
TEST(NeighbourTable, ANeighbourThatWasNotFoundYetMayGo) {
  NeighbourTable table(kInterface);
  EXPECT_EQ(table.handle(News(RTM_DELNEIGH, NUD_INCOMPLETE, false).header), kWho);
}

}  // namespace
}  // namespace mrc::port
