#include "nccl/handle.h"

#include <gmock/gmock.h>

#include "nccl/protocol.h"

namespace mrc::nccl {
namespace {

constexpr IpAddress kV4{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 1, 2};
constexpr IpAddress kV6{0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};

TEST(Handle, AddressesReadAsPeopleWriteThem) {
  EXPECT_EQ(text_of(kV4), "10.0.1.2");
  EXPECT_EQ(text_of(kV6), "fd00:1::9");
}

TEST(Handle, KeepsAsManyAddressesAsFit) {
  const Handle handle = make_handle(std::vector<IpAddress>(8, kV6), 77, 2, 5, 6);
  EXPECT_EQ(handle.count, Handle::kAddresses);
  EXPECT_EQ(handle.addresses[4], kV6);
  EXPECT_EQ(handle.ticket, 0u);
  EXPECT_TRUE(check(handle));
}

// Decision 0016: what tells two of our planes apart tells the same two of the peer's apart.
TEST(Handle, ThePlanesThatDoNotFitFollowFromOurs) {
  std::vector<IpAddress> ours, theirs;
  for (std::uint8_t plane = 0; plane < 8; ++plane) {
    ours.push_back({0xfd, 0, 0, plane, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    theirs.push_back({0xfd, 0, 0, plane, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2});
  }
  EXPECT_EQ(addresses_of(make_handle(theirs, 77, 1, 5, 6), ours), theirs);
  theirs.resize(3);
  EXPECT_EQ(addresses_of(make_handle(theirs, 77, 1, 5, 6), ours), theirs) << "it has no more";
  theirs = {kV4};
  EXPECT_EQ(addresses_of(make_handle(theirs, 77, 1, 5, 6), {}), theirs);
}

TEST(Handle, DamageIsNamed) {
  const Handle good = make_handle({kV4}, 77, 1, 5, 6);
  Handle bad = good;
  bad.magic = 1;
  EXPECT_THAT(check(bad).error().what, ::testing::HasSubstr("not OpenMRC's"));
  bad = good;
  bad.protocol = 9;
  EXPECT_THAT(check(bad).error().what,
              ::testing::HasSubstr("speaks protocol 9, this one " + std::to_string(kProtocol)));
  for (auto spoil : {+[](Handle& h) { h.count = 0; }, +[](Handle& h) { h.count = 6; },
                     +[](Handle& h) { h.qps = 0; }, +[](Handle& h) { h.tcp_port = 0; }}) {
    bad = good;
    spoil(bad);
    EXPECT_THAT(check(bad).error().what, ::testing::HasSubstr("damaged"));
  }
}

TEST(PieceImmediate, SurvivesItsWord) {
  for (std::uint32_t slot = 0; slot < kGrants; ++slot) {
    for (std::uint32_t buffer = 0; buffer < kGroup; ++buffer) {
      const auto back = PieceImmediate::from(PieceImmediate{slot, buffer, 16}.word());
      EXPECT_EQ(back.slot, slot);
      EXPECT_EQ(back.buffer, buffer);
      EXPECT_EQ(back.pieces, 16u);
    }
  }
}

}  // namespace
}  // namespace mrc::nccl
