// Each header against bytes written down by hand, both ways.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "wire/aeth.h"
#include "wire/bth.h"
#include "wire/eeth.h"
#include "wire/erth.h"
#include "wire/ethernet.h"
#include "wire/immdt.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/meth.h"
#include "wire/neth.h"
#include "wire/peth.h"
#include "wire/reth.h"
#include "wire/seth.h"
#include "wire/srh.h"
#include "wire/tseth.h"
#include "wire/udp.h"

namespace mrc::wire {
namespace {

using Vec = std::vector<std::uint8_t>;
constexpr Settings kSettings;

template <std::size_t N, class Value, class... Extra>
Vec emitted(const Value& value, const Extra&... extra) {
  Vec out(N, 0xEE);
  emit(value, extra..., out.data());
  return out;
}

/// One byte too few is no header.
template <class HeaderView>
void expect_checked(const Vec& bytes) {
  EXPECT_TRUE(HeaderView(bytes));
  EXPECT_FALSE(HeaderView(Bytes(bytes).first(bytes.size() - 1)));
  EXPECT_FALSE(HeaderView(Bytes()));
}

// MRC-WIRE-004: the layout of BTH, and the order of its flags by setting.
TEST(Headers, Bth) {
  const Bth h{Opcode::write_last_imm, 3, 0x8001, Qpn(0x123456), Psn(0xABCDEF), true, false, true, true, true};
  const Vec bytes = {0xC9, 0xB0, 0x80, 0x01, 0x00, 0x12, 0x34, 0x56, 0xB0, 0xAB, 0xCD, 0xEF};
  EXPECT_EQ(emitted<12>(h, FlagOrder::ibta), bytes);
  EXPECT_EQ(BthView(bytes).value(FlagOrder::ibta), h);
  Vec swapped = bytes;
  swapped[1] = 0x70;
  EXPECT_EQ(emitted<12>(h, FlagOrder::swapped), swapped);
  EXPECT_EQ(BthView(swapped).value(FlagOrder::swapped), h);
  EXPECT_EQ(BthView(Vec(12, 0x0F)).tver(), 0xF);
  expect_checked<BthView>(bytes);
}

// MRC-WIRE-010
TEST(Headers, Meth) {
  const Vec bytes = {0x01, 0x02, 0x03, 0x04};
  EXPECT_EQ(emitted<4>(Meth{0x0102, 0x0304}), bytes);
  EXPECT_EQ(MethView(bytes).value(), (Meth{0x0102, 0x0304}));
  expect_checked<MethView>(bytes);
}

// MRC-WIRE-013: ticks of 128 ns in format 1, nothing else. MRC-WIRE-015: reserved bits are not looked at.
TEST(Headers, Tseth) {
  const Vec bytes = {0xBE, 0xEF, 0x00, 0x01};
  EXPECT_EQ(emitted<4>(Timestamp{0xBEEF}), bytes);
  EXPECT_EQ(TsethView(bytes).value(), Timestamp{0xBEEF});
  EXPECT_EQ(TsethView(bytes).check(), Verdict::ok);
  EXPECT_EQ(TsethView(Vec{0, 0, 0x80, 0x01}).check(), Verdict::bad_field);
  EXPECT_EQ(TsethView(Vec{0, 0, 0x00, 0x02}).check(), Verdict::bad_field);
  EXPECT_EQ(TsethView(Vec{0, 0, 0x7F, 0xF1}).check(), Verdict::ok);
  expect_checked<TsethView>(bytes);
}

// MRC-WIRE-012
TEST(Headers, Reth) {
  const Vec bytes = {0x7F, 0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0, 0, 0x10, 0x11, 0x80, 0, 0, 1};
  const Reth h{0x7F123456789ABCDE, RKey(0x1011), 0x80000001};
  EXPECT_EQ(emitted<16>(h), bytes);
  EXPECT_EQ(RethView(bytes).value(), h);
  expect_checked<RethView>(bytes);
}

// MRC-WIRE-014
TEST(Headers, ImmDt) {
  const Vec bytes = {0xDE, 0xAD, 0xBE, 0xEF};
  EXPECT_EQ(emitted<4>(ImmDt{0xDEADBEEF}), bytes);
  EXPECT_EQ(ImmDtView(bytes).value(), ImmDt{0xDEADBEEF});
  expect_checked<ImmDtView>(bytes);
}

// MRC-WIRE-027
TEST(Headers, Aeth) {
  const Vec bytes = {0x1F, 0x00, 0x01, 0x02};
  EXPECT_EQ(emitted<4>(TransportAck{0x000102}), bytes);
  EXPECT_EQ(AethView(bytes).value(), TransportAck{0x000102});
  EXPECT_EQ(AethView(Vec{0x62, 0, 0, 7}).value(), (TransportAck{7, Syndrome::remote_access_error}));
  for (int syndrome = 0; syndrome < 256; ++syndrome) {
    const bool good = syndrome <= 0x1F || (syndrome >= 0x61 && syndrome <= 0x63);
    const Vec b = {static_cast<std::uint8_t>(syndrome), 0, 0, 0};
    EXPECT_EQ(AethView(b).check() == Verdict::ok, good) << syndrome;
  }
  expect_checked<AethView>(bytes);
}

const Vec kSeth = {0x00, 0x42, 0xFF, 0xFE, 0x11, 0x22, 0x33, 0x44,
                   0x55, 0x66, 0x77, 0x88,                           // m=2, pr, offset -2, EV, pdcids
                   0x00, 0x0A, 0x0B, 0x0C, 0x00, 0x08, 0x80, 0x00,   // cack, mpr 8, sack_offset -32768
                   0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,   // bits 63, 2 and 0
                   0x12, 0x34, 0x7F, 0xFF, 0xC0, 0x01, 0x02, 0x03};  // echo, ooo, restore + 64, rcvd_bytes

// MRC-WIRE-022
TEST(Headers, Seth) {
  Sack s;
  s.mark = SackMark::always_skip;
  s.probe_reply = true;
  s.ack_psn_offset = -2;
  s.entropy = Ev(0x11223344);
  s.spdcid = 0x5566;
  s.dpdcid = 0x7788;
  s.cack_psn = Psn(0x0A0B0C);
  s.mpr = 8;
  s.sack_offset = -32768;
  s.bitmap = 1ull << 63 | 1 << 2 | 1;
  s.echo = {0x1234};
  s.ooo_count = 0x7FFF;
  s.restore_cwnd = true;
  s.rcv_cwnd_pen = 64;
  s.rcvd_bytes = 0x010203;
  EXPECT_EQ(emitted<36>(s), kSeth);
  EXPECT_EQ(SethView(kSeth).value(), s);
  EXPECT_EQ(SethView(kSeth).check(), Verdict::ok);
  expect_checked<SethView>(kSeth);
}

TEST(Headers, SethOfAnotherTypeIsRefused) {
  struct Case {
    std::size_t at;
    std::uint8_t flip;
    Verdict verdict;
  };
  for (const Case c : {Case{0, 0x10, Verdict::bad_field}, Case{0, 0x08, Verdict::bad_field},
                       Case{1, 0x80, Verdict::bad_field}, Case{1, 0x20, Verdict::bad_field},
                       Case{16, 0x10, Verdict::bad_field}, Case{1, 0x1D, Verdict::ok},
                       Case{12, 0xFF, Verdict::ok}, Case{30, 0x80, Verdict::ok}}) {
    Vec bytes = kSeth;
    bytes[c.at] ^= c.flip;
    EXPECT_EQ(SethView(bytes).check(), c.verdict) << c.at;
  }
}

// MRC-WIRE-023
TEST(Headers, Neth) {
  const Vec bytes = {0, 0, 0x0B, 0x99, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0xA, 0xB, 0xC, 0x20, 0, 0x0D, 0x0E};
  const Nack n{
      Ev(0x01020304), Psn(0x0A0B0C), 0x0506, 0x0708, Timestamp{0x0D0E}, NackReason::psn_oor_window, 0x99};
  EXPECT_EQ(emitted<20>(n, kSettings), bytes);
  EXPECT_EQ(NethView(bytes).value(), n);
  int good = 0;
  for (int reason = 0; reason < 256; ++reason) {
    Vec b = bytes;
    b[2] = static_cast<std::uint8_t>(reason);
    good += NethView(b).check() == Verdict::ok;
  }
  EXPECT_EQ(good, 7);
  Settings other;
  other.nack_cc_type = 5;
  EXPECT_EQ(emitted<20>(n, other)[16], 0x50);
  expect_checked<NethView>(bytes);
}

// MRC-WIRE-025
TEST(Headers, Peth) {
  const Vec bytes = {0, 0, 0, 0x77, 0x12, 0x34, 0, 0, 5, 6, 7, 8, 0xAA, 0xBB, 0, 1};
  const Probe p{0x1234, 0x0506, 0x0708, Timestamp{0xAABB}, 0x77};
  EXPECT_EQ(emitted<16>(p, kSettings), bytes);
  EXPECT_EQ(PethView(bytes).value(), p);
  expect_checked<PethView>(bytes);
}

// MRC-WIRE-026
TEST(Headers, ErthAndEeth) {
  const Vec request = {0, 1, 0, 0x55, 0, 0, 0x01, 0xFE, 0, 0, 0, 0, 0xAA, 0xBB, 0, 1};
  const EndpointRequest r{EndpointOp::ev_probe, PortMask::first(8), Timestamp{0xAABB}, 0x55};
  EXPECT_EQ(emitted<16>(r), request);
  EXPECT_EQ(ErthView(request).value(), r);
  Vec bad = request;
  bad[1] = 2;
  EXPECT_EQ(ErthView(bad).check(), Verdict::bad_field);
  expect_checked<ErthView>(request);

  Vec response(36);
  response[1] = 1 << 2;
  response[28] = 0xCC;
  response[29] = 0xDD;
  const EndpointResponse e{EndpointOp::ev_probe, Timestamp{0xCCDD}};
  EXPECT_EQ(emitted<36>(e, kSettings), response);
  EXPECT_EQ(EethView(response).value(kSettings), e);
  Settings low;
  low.endpoint_response_op_shift = 0;
  EXPECT_EQ(emitted<36>(e, low)[1], 1);
  EXPECT_EQ(EethView(response).check(low), Verdict::ok);  // bits 1:0 are clear: a port status update
  response[1] = 0xC;
  EXPECT_EQ(EethView(response).check(kSettings), Verdict::bad_field);
  expect_checked<EethView>(response);
}

TEST(Headers, Ipv4WithItsChecksum) {
  const Vec bytes = {0x45, 0x48, 0x00, 0x54, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11,
                     0x14, 0x1B, 0x0A, 0x00, 0x00, 0x01, 0x0A, 0x00, 0x00, 0x02};
  const Ipv4 h{IpAddress::v4(10, 0, 0, 1), IpAddress::v4(10, 0, 0, 2), 84, 0x1234, 0x4000, 0x48, 64, 17};
  EXPECT_EQ(emitted<20>(h), bytes);
  EXPECT_EQ(Ipv4View(bytes).value(), h);
  EXPECT_TRUE(Ipv4View(bytes).checksum_ok());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Vec bad = bytes;
    bad[i] ^= 0x04;
    EXPECT_FALSE(Ipv4View(bad).checksum_ok()) << i;
  }
  expect_checked<Ipv4View>(bytes);
}

TEST(Headers, Ipv6) {
  const Ipv6 h{*parse_ip("fd00::1"), *parse_ip("fd00::2"), 0xABCDE, 1000, 0xB9, kNextUdp, 63};
  const Vec bytes = emitted<40>(h);
  const Vec start = {0x6B, 0x9A, 0xBC, 0xDE, 0x03, 0xE8, 17, 63, 0xFD, 0x00};
  EXPECT_TRUE(std::equal(start.begin(), start.end(), bytes.begin()));
  EXPECT_EQ(Ipv6View(bytes).value(), h);
  expect_checked<Ipv6View>(bytes);
}

// MRC-WIRE-061: an SRH must hold the segments that it counts.
TEST(Headers, Srh) {
  const Srh h{*parse_ip("fcbb:bb00::7")};
  const Vec bytes = emitted<24>(h);
  EXPECT_EQ((Vec(bytes.begin(), bytes.begin() + 8)), (Vec{41, 2, 4, 1, 0, 0, 0, 0}));
  EXPECT_EQ(SrhView(bytes).value(), h);
  EXPECT_TRUE(SrhView(bytes).ok());
  const auto with = [&](std::size_t at, std::uint8_t v) {
    Vec b = bytes;
    b[at] = v;
    return SrhView(b).ok();
  };
  EXPECT_FALSE(with(1, 3));  // longer than the bytes
  EXPECT_FALSE(with(1, 1));  // no room for the segment
  EXPECT_FALSE(with(2, 3));  // another routing type
  EXPECT_FALSE(with(3, 2));  // more segments left than there are
  EXPECT_FALSE(with(4, 1));  // a second entry that is not there
  EXPECT_TRUE(with(3, 0));
}

TEST(Headers, UdpAndEthernet) {
  const Vec udp = {0xC0, 0x01, 0x12, 0xB7, 0x00, 0x40, 0xBE, 0xEF};
  EXPECT_EQ(emitted<8>(Udp{0xC001, 4791, 64, 0xBEEF}), udp);
  EXPECT_EQ(UdpView(udp).value(), (Udp{0xC001, 4791, 64, 0xBEEF}));
  expect_checked<UdpView>(udp);
  const Vec ethernet = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xDD};
  const Ethernet e{*parse_mac("02:00:00:00:00:02"), *parse_mac("02:00:00:00:00:01")};
  EXPECT_EQ(emitted<14>(e), ethernet);
  EXPECT_EQ(EthernetView(ethernet).value(), e);
  expect_checked<EthernetView>(ethernet);
}

TEST(Headers, AddressesAsText) {
  EXPECT_EQ(to_string(*parse_ip("10.1.2.3")), "10.1.2.3");
  EXPECT_EQ(*parse_ip("::ffff:10.1.2.3"), IpAddress::v4(10, 1, 2, 3));
  EXPECT_EQ(to_string(*parse_ip("fcbb:bb00:1:0:0:0:0:2")), "fcbb:bb00:1::2");
  EXPECT_FALSE(parse_ip("10.1.2"));
  EXPECT_FALSE(parse_mac("02:00:00:00:00"));
  EXPECT_FALSE(parse_mac("02:00:00:00:00:01:02"));
  EXPECT_EQ(to_string(*parse_mac("02:00:00:00:00:ff")), "02:00:00:00:00:ff");
}

}  // namespace
}  // namespace mrc::wire
