// Captures survive a round trip, and damaged or foreign ones end in an error, never in a crash.
#include "tools/capture.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <vector>

namespace mrc::tools {
namespace {

using Frame = std::vector<std::uint8_t>;

class Capture : public testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void write(LinkType link, const std::vector<Frame>& frames) {
    auto writer = CaptureWriter::create(path_, link);
    ASSERT_TRUE(writer);
    Time t{Duration(1'700'000'000'000'000'123)};
    for (const Frame& f : frames) writer->write(t += 1us, f, 9000);
    ASSERT_TRUE(writer->finish());
  }
  void put(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string path_ = testing::TempDir() + "capture_test_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".pcap";
};

TEST_F(Capture, KeepsTimesLengthsAndBytes) {
  write(LinkType::ethernet, {Frame(60, 7), Frame(20, 9)});
  auto reader = CaptureReader::open(path_);
  ASSERT_TRUE(reader);
  CapturedFrame frame{};
  ASSERT_EQ(reader->read(frame), CaptureReader::Next::frame);
  EXPECT_EQ(frame.time.time_since_epoch().count(), 1'700'000'000'000'001'123);
  EXPECT_EQ(frame.bytes.size(), 60u);
  EXPECT_EQ(frame.original_length, 9000u);
  ASSERT_EQ(reader->read(frame), CaptureReader::Next::frame);
  EXPECT_EQ(frame.number, 2u);
  EXPECT_EQ(frame.bytes[19], 9);
  EXPECT_EQ(reader->read(frame), CaptureReader::Next::end);
}

TEST_F(Capture, EveryLinkTypeComesBack) {
  for (LinkType link : {LinkType::ethernet, LinkType::linux_cooked_v1, LinkType::linux_cooked_v2,
                        LinkType::raw_ip, LinkType::null_loopback}) {
    write(link, {Frame(60, 0)});
    auto reader = CaptureReader::open(path_);
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->link(), link);
  }
}

TEST_F(Capture, AFileThatEndsInARecordIsBrokenAfterWhatCameBefore) {
  write(LinkType::ethernet, {Frame(60, 7), Frame(60, 8)});
  std::ifstream in(path_, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  put(bytes.substr(0, bytes.size() - 10));
  auto reader = CaptureReader::open(path_);
  ASSERT_TRUE(reader);
  CapturedFrame frame{};
  EXPECT_EQ(reader->read(frame), CaptureReader::Next::frame);
  EXPECT_EQ(reader->read(frame), CaptureReader::Next::broken);
  EXPECT_FALSE(reader->error().empty());
}

TEST_F(Capture, WhatIsNoCaptureIsAnErrorThatNamesTheFile) {
  put("this is a poem, not a capture file");
  auto poem = CaptureReader::open(path_);
  ASSERT_FALSE(poem);
  EXPECT_NE(poem.error().what.find(path_), std::string::npos) << poem.error().what;
  auto nothing = CaptureReader::open("/nonexistent/file.pcap");
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().what.find("/nonexistent/file.pcap"), std::string::npos);
}

Frame ethernet(std::initializer_list<int> after_addresses) {
  Frame f(12, 0xEE);
  for (int b : after_addresses) f.push_back(static_cast<std::uint8_t>(b));
  return f;
}

TEST(LinkLayer, PassesOverEthernetAndUpToTwoTags) {
  EXPECT_EQ(ip_packet(LinkType::ethernet, ethernet({0x08, 0x00, 0x45}))->front(), 0x45);
  EXPECT_EQ(ip_packet(LinkType::ethernet, ethernet({0x81, 0, 0, 5, 0x86, 0xDD, 0x60}))->front(), 0x60);
  EXPECT_EQ(
      ip_packet(LinkType::ethernet, ethernet({0x88, 0xA8, 0, 1, 0x81, 0, 0, 5, 0x08, 0, 0x45}))->front(),
      0x45);
  EXPECT_FALSE(ip_packet(LinkType::ethernet, ethernet({0x08, 0x06, 0x00})));  // ARP
}

TEST(LinkLayer, NoPrefixOfAFrameIsReadPastItsEnd) {
  const Frame tagged = ethernet({0x88, 0xA8, 0, 1, 0x81, 0, 0, 5, 0x08, 0, 0x45});
  for (LinkType link : {LinkType::ethernet, LinkType::linux_cooked_v1, LinkType::linux_cooked_v2,
                        LinkType::raw_ip, LinkType::null_loopback}) {
    for (std::size_t n = 0; n < tagged.size(); ++n) {
      const Frame prefix(tagged.begin(),
                         tagged.begin() + static_cast<std::ptrdiff_t>(n));  // own heap block: ASan sees
      const auto ip = ip_packet(link, prefix);
      EXPECT_TRUE(!ip || ip->size() <= n);
    }
  }
}

TEST(LinkLayer, CookedAndRaw) {
  Frame v1(16, 0), v2(20, 0);
  v1[14] = 0x08;
  v2[0] = 0x86, v2[1] = 0xDD;
  v1.push_back(0x45);
  v2.push_back(0x60);
  EXPECT_EQ(ip_packet(LinkType::linux_cooked_v1, v1)->front(), 0x45);
  EXPECT_EQ(ip_packet(LinkType::linux_cooked_v2, v2)->front(), 0x60);
  EXPECT_EQ(ip_packet(LinkType::raw_ip, Frame{0x60, 1})->size(), 2u);
  EXPECT_FALSE(ip_packet(LinkType::raw_ip, Frame{0x10}));
  EXPECT_EQ(ip_packet(LinkType::null_loopback, Frame{2, 0, 0, 0, 0x45})->size(), 1u);
}

}  // namespace
}  // namespace mrc::tools
