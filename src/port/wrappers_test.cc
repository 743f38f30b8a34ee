// Ports around ports: what they write, what they do to packets, and that they leave everything else alone.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "port/fault_port.h"
#include "port/framed_port.h"
#include "port/packet_port.h"
#include "port/pcap_port.h"
#include "port/trace_port.h"
#include "port/traffic_test_support.h"
#include "port/udp_port.h"
#include "wire/codec.h"

namespace mrc::port {
namespace {

using testing::Arrival;
using testing::pattern;
using testing::receive;
using testing::Sandbox;
using testing::TestTrain;

const Address kLeft = *parse_address("fd77::1");
const Address kRight = *parse_address("fd77::2");

class WrapperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox_ = std::move(*made);
    sandbox_->stay_left();
    left_ = std::move(*UdpPort::open({.local = kLeft}));
    sandbox_->right([&] { right_ = std::move(*UdpPort::open({.local = kRight})); });
  }
  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<Port> left_, right_;
};

/// The records of a pcap file: the bytes of each packet.
std::vector<std::string> read_pcap(const std::string& path, std::uint32_t& link) {
  std::ifstream file(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  const auto word = [&](std::size_t at) {
    std::uint32_t v = 0;
    std::memcpy(&v, all.data() + at, 4);
    return v;
  };
  if (all.size() < 24 || word(0) != 0xA1B23C4D) return {};
  link = word(20);
  std::vector<std::string> out;
  for (std::size_t at = 24; at + 16 <= all.size(); at += 16 + word(at + 8))
    out.push_back(all.substr(at + 16, word(at + 8)));
  return out;
}

TEST_F(WrapperTest, PcapHoldsEveryPacketOfATrainWithItsHeaders) {
  const std::string path = ::testing::TempDir() + "port_pcap_test.pcap";
  auto tapped = PcapPort::open(std::move(left_), {.path = path});
  ASSERT_TRUE(tapped);
  TestTrain out(pattern(3 * 200 + 50), 200, kRight, 50000, 70);
  out.train.tos = 0x4A;
  out.train.flow_label = 0x54321;
  ASSERT_EQ((*tapped)->tx({&out.train, 1}), 1u);
  const auto got = receive(*right_, 4);
  ASSERT_EQ(got.size(), 4u);
  TestTrain back(pattern(99), 99, kLeft, 50001);
  sandbox_->right([&] { ASSERT_EQ(right_->tx({&back.train, 1}), 1u); });
  ASSERT_EQ(receive(**tapped, 1).size(), 1u);
  (*tapped)->service();

  std::uint32_t link = 0;
  const auto packets = read_pcap(path, link);
  EXPECT_EQ(link, 101u);
  ASSERT_EQ(packets.size(), 5u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(packets[i].substr(48), got[i].bytes);
  EXPECT_EQ(packets[4].substr(48), back.bytes);
  // The headers are those that the codec of the project reads.
  wire::Parsed parsed;
  wire::parse_l3({reinterpret_cast<const std::uint8_t*>(packets[0].data()), packets[0].size()}, {}, parsed);
  EXPECT_EQ(parsed.datagram.source, wire::IpAddress{kLeft.ip});
  EXPECT_EQ(parsed.datagram.destination, wire::IpAddress{kRight.ip});
  EXPECT_EQ(parsed.datagram.source_port, 50000);
  EXPECT_EQ(parsed.datagram.flow_label, 0x54321u);
  EXPECT_EQ(parsed.datagram.traffic_class, 0x4A);
  std::filesystem::remove(path);
}

TEST_F(WrapperTest, PcapSaysWhyItCannotWrite) {
  const auto tapped = PcapPort::open(std::move(left_), {.path = "/nonexistent/directory/x.pcap"});
  ASSERT_FALSE(tapped);
  EXPECT_EQ(tapped.error().code, ENOENT);
}

TEST_F(WrapperTest, TraceSaysWhatPasses) {
  std::vector<std::string> lines;
  TracePort traced(std::move(left_), {}, [&](const std::string& line) { lines.push_back(line); });
  wire::Packet packet;
  packet.dqpn = Qpn(0x1234);
  packet.psn = Psn(7);
  packet.body = wire::Probe{.probe_id = 9};
  const wire::Datagram around{
      .source = {kLeft.ip}, .destination = {kRight.ip}, .source_port = 50000, .destination_port = 4791};
  std::uint8_t bytes[256];
  const std::size_t size = wire::emit_datagram(packet, around, {}, {}, bytes);
  ASSERT_GT(size, 0u);
  TestTrain out(std::string(reinterpret_cast<char*>(bytes), size), static_cast<std::uint32_t>(size), kRight,
                50000, 10);
  TestTrain junk(pattern(40), 40, kRight, 50000);
  TxTrain burst[] = {out.train, junk.train};
  ASSERT_EQ(traced.tx(burst), 2u);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0],
              ::testing::AllOf(::testing::StartsWith("> "), ::testing::HasSubstr("probe"),
                               ::testing::HasSubstr("1234"), ::testing::Not(::testing::HasSubstr("["))));
  EXPECT_THAT(lines[1], ::testing::HasSubstr("["));
}

class FaultTest : public WrapperTest {
 protected:
  /// Sends `n` numbered packets through a port with this plan and gives back what came out.
  std::vector<Arrival> through(const FaultPlan& plan, unsigned n, std::size_t expect) {
    auto faulty = FaultPort::open(std::move(right_), plan);
    EXPECT_TRUE(faulty);
    std::vector<Arrival> got;
    for (unsigned i = 0; i < n; ++i) {
      TestTrain out(pattern(100, i) + std::string(reinterpret_cast<char*>(&i), 4), 104, kRight, 50000);
      EXPECT_EQ(left_->tx({&out.train, 1}), 1u);
    }
    got = receive(**faulty, expect, 3000);
    RxPacket more[8];
    EXPECT_EQ((*faulty)->rx(more), 0u);
    counts_ = (*faulty)->faults();
    right_ = std::move(*faulty);
    return got;
  }
  static unsigned number(const Arrival& packet) {
    unsigned n = 0;
    std::memcpy(&n, packet.bytes.data() + 100, 4);
    return n;
  }
  static std::vector<unsigned> numbers(const std::vector<Arrival>& packets) {
    std::vector<unsigned> out;
    for (const Arrival& packet : packets) out.push_back(number(packet));
    return out;
  }
  FaultCounts counts_;
};

TEST_F(FaultTest, WithoutFaultsItIsInvisible) {
  const auto got = through({}, 200, 200);
  ASSERT_EQ(got.size(), 200u);
  for (unsigned i = 0; i < 200; ++i) EXPECT_EQ(number(got[i]), i);
  EXPECT_EQ(got[0].from, kLeft);
  EXPECT_EQ(got[0].source_port, 50000);
}

TEST_F(FaultTest, LosesByTheSeed) {
  Prng same(42);
  std::vector<unsigned> expected;
  for (unsigned i = 0; i < 200; ++i) {
    const bool lost = same.chance(0.25);
    for (int draw = 0; draw < 5; ++draw) same.next();
    if (!lost) expected.push_back(i);
  }
  const auto got = through({.seed = 42, .loss = 0.25}, 200, expected.size());
  EXPECT_EQ(numbers(got), expected);
  EXPECT_EQ(counts_.lost, 200 - expected.size());
}

TEST_F(FaultTest, DelayReordersAndLosesNothing) {
  const auto got = through({.delay = 0.3, .delay_least = 1ms, .delay_most = 5ms}, 200, 200);
  ASSERT_EQ(got.size(), 200u);
  const auto order = numbers(got);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(std::set<unsigned>(order.begin(), order.end()).size(), 200u);
  EXPECT_GT(counts_.delayed, 0u);
}

TEST_F(FaultTest, Duplicates) {
  const auto got = through({.duplicate = 1}, 50, 100);
  EXPECT_EQ(got.size(), 100u);
  EXPECT_EQ(counts_.duplicated, 50u);
}

TEST_F(FaultTest, CorruptsOneBit) {
  const auto bad = through({.corrupt = 1}, 50, 50);
  ASSERT_EQ(bad.size(), 50u);
  for (unsigned i = 0; i < 50; ++i) {
    const std::string good = pattern(100, i) + std::string(reinterpret_cast<char*>(&i), 4);
    int flipped = 0;
    for (std::size_t b = 0; b < good.size(); ++b)
      flipped += __builtin_popcount(static_cast<unsigned char>(good[b] ^ bad[i].bytes[b]));
    EXPECT_EQ(flipped, 1);
  }
}

}  // namespace
}  // namespace mrc::port
