// Discovery: what MRC_DEVICES means, what the default is, and how GID tables are laid out.
#include "lib/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace mrc::lib {
namespace {

using testing::HasSubstr;

Gid v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d};
}
const Gid kGlobal6{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
const Gid kLinkLocal{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x12, 0x22, 0x33, 0xff, 0xfe, 0x44, 0x55, 0x66};

std::vector<Interface> machine() {
  return {
      {"lo", 1, {}, true, true, {v4(127, 0, 0, 1)}},
      {"eth0", 2, {0x10, 0x22, 0x33, 0x44, 0x55, 0x66}, false, true, {v4(10, 0, 0, 1), kGlobal6, kLinkLocal}},
      {"eth1", 3, {0x10, 0x22, 0x33, 0x44, 0x55, 0x67}, false, true, {v4(10, 0, 1, 1)}},
      {"eth2", 4, {}, false, false, {}},
  };
}

TEST(GidTable, ThirdIndexIsRoutableRoceV2) {  // MRC-API-010
  const auto table = make_gid_table(machine()[1], v4(10, 0, 0, 1));
  ASSERT_EQ(table.size(), 6u);  // the link-local address equals the GID of the MAC: listed once
  EXPECT_EQ(table[0], (GidEntry{kLinkLocal, GidType::roce_v1, 2}));
  EXPECT_EQ(table[1], (GidEntry{kLinkLocal, GidType::roce_v2, 2}));
  EXPECT_EQ(table[2], (GidEntry{v4(10, 0, 0, 1), GidType::roce_v1, 2}));
  EXPECT_EQ(table[3], (GidEntry{v4(10, 0, 0, 1), GidType::roce_v2, 2}));
  EXPECT_EQ(table[5], (GidEntry{kGlobal6, GidType::roce_v2, 2}));
}

TEST(GidTable, PreferredAddressTakesIndexThree) {
  EXPECT_EQ(make_gid_table(machine()[1], kGlobal6)[3].gid, kGlobal6);
}

TEST(Discovery, PortsAndDevicesFromTheSetting) {
  const auto devices = make_devices("eth0, eth1;lo/127.0.0.7", machine(), "");
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 2u);
  const auto& first = (*devices)[0];
  EXPECT_EQ(first.name, "mrc0");
  ASSERT_EQ(first.ports.size(), 2u);
  EXPECT_EQ(first.ports[1].id, PortId(2));
  EXPECT_EQ(first.ports[1].address, v4(10, 0, 1, 1));
  EXPECT_EQ(first.guid, 0x122233fffe445566u);
  EXPECT_EQ((*devices)[1].ports[0].gids[3].gid, v4(127, 0, 0, 7));
}

TEST(Discovery, DefaultsToTheRoutedInterfaceThenTheFirstThatIsUpThenLoopback) {
  const auto name = [](const std::string& routed, std::vector<Interface> interfaces) {
    const auto devices = make_devices(std::nullopt, interfaces, routed);
    return devices && !devices->empty() ? (*devices)[0].ports[0].interface.name : std::string("none");
  };
  EXPECT_EQ(name("eth1", machine()), "eth1");
  EXPECT_EQ(name("eth2", machine()), "eth0");  // down and without an address
  EXPECT_EQ(name("", {machine()[0]}), "lo");
  EXPECT_EQ(name("", {machine()[3]}), "none");
}

TEST(Discovery, CopiesStandBehindEachOther) {
  const auto devices = *make_devices("eth0,eth1;lo", machine(), "");
  const auto all = copied(devices, "2");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 4u);
  for (const std::size_t i : {0, 1, 2, 3}) {
    EXPECT_EQ((*all)[i].name, "mrc" + std::to_string(i));
    EXPECT_EQ((*all)[i].ports.size(), devices[i % 2].ports.size());
  }
  EXPECT_EQ(copied(devices, std::nullopt)->size(), 2u);
  for (const char* wrong : {"0", "17", "two", "", "2x"}) {
    const auto refused = copied(devices, wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().what, HasSubstr("MRC_COPIES=" + std::string(wrong)));
  }
}

TEST(Discovery, EmptySettingMeansNoSoftDevice) {
  const auto devices = make_devices("", machine(), "eth0");
  ASSERT_TRUE(devices);
  EXPECT_TRUE(devices->empty());
}

TEST(Discovery, DevicesOfOneLoopbackHaveDifferentGuids) {
  const auto devices = make_devices("lo/127.0.0.1;lo/127.0.0.2", machine(), "");
  ASSERT_TRUE(devices);
  EXPECT_NE((*devices)[0].guid, (*devices)[1].guid);
}

struct Wrong {
  const char* setting;
  int code;
  const char* says;
};
class WrongSetting : public testing::TestWithParam<Wrong> {};
TEST_P(WrongSetting, SaysWhichWord) {
  const auto devices = make_devices(GetParam().setting, machine(), "");
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, GetParam().code);
  EXPECT_THAT(devices.error().what, HasSubstr(GetParam().says));
}
INSTANTIATE_TEST_SUITE_P(All, WrongSetting,
                         testing::Values(Wrong{"eth9", ENODEV, "'eth9'"}, Wrong{"eth0,", ENODEV, "''"},
                                         Wrong{"eth0/10.0.0", EINVAL, "'10.0.0'"},
                                         Wrong{"eth0/10.0.1.1", EADDRNOTAVAIL, "10.0.1.1"},
                                         Wrong{"eth2", EADDRNOTAVAIL, "eth2"},
                                         Wrong{"eth0,eth1,eth0", EINVAL, "'eth0' is there twice"},
                                         Wrong{"eth0/fd00::9,eth1", EAFNOSUPPORT, "10.0.1.1 and fd00::9"}));

TEST(Interfaces, TheMachineHasALoopbackThatIsUp) {
  const auto interfaces = read_interfaces();
  ASSERT_TRUE(interfaces);
  const auto lo =
      std::find_if(interfaces->begin(), interfaces->end(), [](const auto& i) { return i.loopback; });
  ASSERT_NE(lo, interfaces->end());
  EXPECT_EQ(lo->addresses.empty() || lo->addresses[0] == v4(127, 0, 0, 1), true);
}

}  // namespace
}  // namespace mrc::lib
