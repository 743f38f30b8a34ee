// Datagrams over packet sockets, between each other and with the kernel's own UDP.
#include <fstream>
#include <sstream>

#include "port/frame_head.h"
#include "port/framed_port_test_support.h"
#include "port/shield.h"

namespace mrc::port {
namespace {

INSTANTIATE_TEST_SUITE_P(Families, FramedPortTest, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& param) { return param.param == AF_INET ? "v4" : "v6"; });

class SegmentRoutedPortTest : public FramedPortTest {};
INSTANTIATE_TEST_SUITE_P(OverIpv6, SegmentRoutedPortTest, ::testing::Values(AF_INET6));

TEST_P(FramedPortTest, CarriesPacketsToItsLike) {
  auto left = framed_left(), right = framed_right();
  expect_carried(*left, *right, nullptr);
}

TEST_P(FramedPortTest, TheKernelTakesItsPackets) {
  auto left = framed_left(), right = kernel_right();
  expect_carried(*left, *right, nullptr);
}

TEST_P(FramedPortTest, TakesWhatTheKernelCoalesced) {
  auto right = framed_right();
  auto left = UdpPort::open({.local = left_address_});
  ASSERT_TRUE(left);
  TestTrain out(pattern(7 * 1024 + 100), 1024, right_address_, 50000);
  ASSERT_EQ((*left)->tx({&out.train, 1}), 1u);
  const auto got = receive(*right, 8);
  ASSERT_EQ(got.size(), 8u);
  std::string joined;
  for (const Arrival& packet : got) joined += packet.bytes;
  EXPECT_EQ(joined, out.bytes);
  EXPECT_EQ(got[0].bytes.size(), 1024u);
  EXPECT_EQ(right->counters().rx_packets, 8u);
}

TEST_P(SegmentRoutedPortTest, EncapsulatesAsSpecified) {
  auto left = framed_left(), right = framed_right();
  const Address carrier = *parse_address("fd77::2");  // a carrier whose next hop is the right end itself
  expect_carried(*left, *right, &carrier);
}

// MRC-PORT-006
TEST_P(SegmentRoutedPortTest, TheKernelUnwrapsItsEncapsulation) {
  for (const char* command :
       {"sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.r0.seg6_enabled=1 "
        "net.ipv6.conf.all.forwarding=1",
        "ip -6 route add fc00:0:5::/48 encap seg6local action End.DT6 table 255 dev r0"})
    if (auto done = sandbox_->right_shell(command); !done)
      GTEST_SKIP() << "no seg6local here: " << done.error().what;
  ASSERT_TRUE(sandbox_->left_shell("ip -6 route add fc00::/16 via fd77::2"));
  auto left = framed_left(), right = kernel_right();
  const Address carrier = *parse_address("fc00:0:5::");
  expect_carried(*left, *right, &carrier);
}

// MRC-PORT-007: the kernel's End takes the second carrier out of the SRH, its End.DT6 unwraps the rest.
TEST_P(SegmentRoutedPortTest, TheKernelFollowsItsSecondCarrier) {
  for (const char* command :
       {"sysctl -qw net.ipv6.conf.all.seg6_enabled=1 net.ipv6.conf.r0.seg6_enabled=1 "
        "net.ipv6.conf.all.forwarding=1",
        "ip -6 route add fc00:0:7::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 dev r0",
        "ip -6 route add fc00:0:5::/48 encap seg6local action End.DT6 table 255 dev r0"})
    if (auto done = sandbox_->right_shell(command); !done)
      GTEST_SKIP() << "no seg6local with next-csid here: " << done.error().what;
  ASSERT_TRUE(sandbox_->left_shell("ip -6 route add fc00::/16 via fd77::2"));
  auto left = framed_left(), right = kernel_right();
  const Address first = *parse_address("fc00:0:7::"), second = *parse_address("fc00:0:5::");
  expect_carried(*left, *right, &first, &second);
}

/// A frame written by hand: whatever header one likes.
struct Handmade {
  explicit Handmade(const Address& from, const Address& to, const Address& outer_to, bool srh,
                    std::uint8_t left)
      : outer(outer_to), payload(pattern(100)) {
    TestTrain train(payload, 100, to, 7);
    train.train.outer = &outer;
    train.train.outer_next = srh ? &outer : nullptr;
    bytes.resize(frame_head_size(train.train));
    emit_frame_head(train.train, {.from = from}, bytes.data());
    std::fill_n(bytes.begin(), 6, 0xFF);  // to everybody on this cable
    if (srh) bytes[14 + 40 + 3] = left;
    bytes.insert(bytes.end(), payload.begin(), payload.end());
  }
  void send(Port& frames) {
    iovec piece{bytes.data(), bytes.size()};
    TxTrain train{
        .pieces = &piece, .piece_count = 1, .packet_bytes = static_cast<std::uint32_t>(bytes.size())};
    ASSERT_EQ(frames.tx({&train, 1}), 1u);
    ASSERT_EQ(train.error, 0);
  }
  Address outer;
  std::string payload;
  std::vector<std::uint8_t> bytes;
};

// MRC-PORT-007
TEST_P(SegmentRoutedPortTest, TakesPacketsWithASpentSrhOnly) {
  auto frames = PacketPort::open({.interface = "l0"});
  ASSERT_TRUE(frames);
  auto right = framed_right();
  Handmade(left_address_, right_address_, right_address_, true, 1).send(**frames);  // not at its end yet
  Handmade spent(left_address_, right_address_, right_address_, true, 0);
  spent.send(**frames);
  const auto got = receive(*right, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].bytes, spent.payload);
  EXPECT_EQ(right->counters().rx_packets, 1u);
  EXPECT_EQ(right->counters().rx_malformed, 1u);
}

// MRC-PORT-008
TEST_P(SegmentRoutedPortTest, RefusesWhatComesFromOutsideTheFabric) {
  auto frames = PacketPort::open({.interface = "l0"});
  ASSERT_TRUE(frames);
  std::unique_ptr<Port> right;
  sandbox_->right([&] {
    auto below = PacketPort::open({.interface = "r0"});
    ASSERT_TRUE(below);
    FramedPortOptions guarded{.local = right_address_};
    guarded.sid = parse_ipv6_prefix("fcbb:bb00:e001::/48");
    guarded.fabric = parse_ipv6_prefix("fd77::/32");
    right = std::move(*FramedPort::open(std::move(*below), guarded));
  });
  const Address sid = *parse_address("fcbb:bb00:e001::"), other_sid = *parse_address("fcbb:bb00:e002::"),
                stranger = *parse_address("2001:db8::1"), other = *parse_address("fd77::3");
  Handmade(left_address_, right_address_, other_sid, false, 0).send(**frames);
  Handmade(left_address_, right_address_, stranger, false, 0).send(**frames);
  Handmade(stranger, right_address_, sid, false, 0).send(**frames);
  Handmade(left_address_, other, sid, false, 0).send(**frames);
  auto plain = UdpPort::open({.local = left_address_});  // not encapsulated at all
  ASSERT_TRUE(plain);
  TestTrain out(pattern(64), 64, right_address_, 50000);
  ASSERT_EQ((*plain)->tx({&out.train, 1}), 1u);
  Handmade good(left_address_, right_address_, sid, false, 0);
  good.send(**frames);
  const auto got = receive(*right, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].bytes, good.payload);
  EXPECT_EQ(right->counters().rx_packets, 1u);
  EXPECT_EQ(right->counters().rx_outside, 3u);
  EXPECT_EQ(right->counters().rx_wrong_inner, 2u);
}

/// What the kernel's own UDP made of packets that weren't for it, in the right namespace.
std::uint64_t kernel_errors(const Sandbox& sandbox) {
  std::uint64_t total = 0;
  sandbox.right([&] {
    std::ifstream v6("/proc/thread-self/net/snmp6");
    std::string name;
    for (std::uint64_t value; v6 >> name >> value;)
      if (name == "Udp6InErrors") total += value;
    std::ifstream v4("/proc/thread-self/net/snmp");
    std::string heads, values;
    while (std::getline(v4, heads) && std::getline(v4, values))
      if (heads.starts_with("Udp: ")) {
        std::istringstream row(values.substr(5));
        std::uint64_t field = 0;
        for (int i = 0; i < 3; ++i) row >> field;  // InDatagrams NoPorts InErrors
        total += field;
      }
  });
  return total;
}

TEST_P(FramedPortTest, TheShieldKeepsPacketsFromTheKernel) {
  auto left = framed_left(), right = framed_right();
  Result<Fd> probe = Fd();
  sandbox_->right([&] { probe = raise_shield(right->link().interface, right_address_, 4791); });
  if (!probe) GTEST_SKIP() << probe.error().what;
  probe = Fd();  // it only told that shields are allowed: the port has its own
  const std::uint64_t before = kernel_errors(*sandbox_);
  for (int i = 0; i < 20; ++i) {
    TestTrain out(pattern(64), 64, right_address_, 7);
    ASSERT_EQ(left->tx({&out.train, 1}), 1u);
  }
  EXPECT_EQ(receive(*right, 20).size(), 20u);
  EXPECT_EQ(kernel_errors(*sandbox_), before);
}

TEST_P(FramedPortTest, ABadPacketStopsNoOther) {
  auto left = framed_left(), right = framed_right();
  TestTrain good(pattern(64), 64, right_address_, 7), again(pattern(65, 2), 65, right_address_, 7);
  TestTrain too_long(pattern(9000), 9000, right_address_, 7, 4500);
  TestTrain nowhere(pattern(64), 64, *parse_address(v4() ? "10.99.0.1" : "fd99::1"), 7);
  TestTrain train(pattern(128), 64, right_address_, 7);
  TxTrain burst[] = {good.train, too_long.train, nowhere.train, train.train, again.train};
  ASSERT_EQ(left->tx(burst), 5u);
  const int errors[] = {burst[0].error, burst[1].error, burst[2].error, burst[3].error, burst[4].error};
  EXPECT_THAT(errors, ::testing::ElementsAre(0, EMSGSIZE, EHOSTUNREACH, EINVAL, 0));
  EXPECT_EQ(receive(*right, 2).size(), 2u);
  EXPECT_EQ(left->counters().tx_discarded, 3u);
}

TEST_P(FramedPortTest, LeavesOtherTrafficToTheKernel) {
  auto right = framed_right();
  auto left = UdpPort::open({.local = left_address_, .udp_port = 4800});
  ASSERT_TRUE(left);
  std::unique_ptr<UdpPort> other;
  sandbox_->right([&] { other = std::move(*UdpPort::open({.local = right_address_, .udp_port = 4800})); });
  TestTrain out(pattern(64), 64, right_address_, 50000);
  ASSERT_EQ((*left)->tx({&out.train, 1}), 1u);
  EXPECT_EQ(receive(*other, 1).size(), 1u);
  EXPECT_EQ(receive(*right, 1, 50).size(), 0u);
}

}  // namespace
}  // namespace mrc::port
