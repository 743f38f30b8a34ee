// Quality of service on real sockets: the DSCP of each kind of packet, and attributes that change in place.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <map>

#include "lib/nic_device_fixture.h"
#include "port/fd.h"
#include "wire/codec.h"

namespace mrc::lib::testing {
namespace {

/// A peer that is nothing but a socket: it sees packets as they arrive, with their classes.
class Witness {
 public:
  explicit Witness(std::uint8_t last) : last_(last), fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(fd_.get(), IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
    const sockaddr_in me = address(last);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&me), sizeof me), 0);
  }
  struct Seen {
    wire::Opcode opcode;
    bool retransmitted;
    int dscp;
  };
  /// The next packet; nothing after a few seconds of silence.
  std::optional<Seen> next() {
    pollfd wait{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&wait, 1, 10'000) != 1) return std::nullopt;
    std::uint8_t bytes[8192];
    alignas(cmsghdr) char control[64];
    iovec piece{bytes, sizeof bytes};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (::recvmsg(fd_.get(), &message, 0) < 12) return std::nullopt;
    int tos = -1;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) tos = *CMSG_DATA(c);
    }
    return Seen{wire::Opcode(bytes[0]), (bytes[8] & 0x20) != 0, tos >> 2};
  }
  /// Asks the QP at 127.0.0.`to` a question that it must answer.
  void probe(std::uint8_t to, Qpn qpn) {
    wire::Packet packet;
    packet.dqpn = qpn;
    packet.body = wire::Probe{.probe_id = 3};
    wire::Datagram around;
    around.source = wire::IpAddress::v4(127, 0, 0, last_);
    around.destination = wire::IpAddress::v4(127, 0, 0, to);
    around.source_port = around.destination_port = settings().udp_port;
    std::array<std::uint8_t, 256> bytes;
    const std::size_t size = wire::emit_datagram(packet, around, {}, {}, bytes);
    const sockaddr_in there = address(to);
    EXPECT_EQ(
        ::sendto(fd_.get(), bytes.data(), size, 0, reinterpret_cast<const sockaddr*>(&there), sizeof there),
        static_cast<ssize_t>(size));
  }

 private:
  static sockaddr_in address(std::uint8_t last) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(settings().udp_port);
    out.sin_addr.s_addr = htonl(0x7F000000u | last);
    return out;
  }
  std::uint8_t last_;
  port::Fd fd_;
};

QpAttributes toward(std::uint8_t last) {
  QpAttributes a;
  a.remote_write = true;
  a.remote_gid = loopback("", last).ports[0].address;
  a.remote_qpn = Qpn(77);
  a.timeout = 10;  // 1.05 ms: repairs soon
  a.linear_retries = 7;
  a.exponential_retries = 25;
  return a;
}

void post(Side& side, QueuePair* qp, std::uint32_t length) {
  const Sge sge{side.va(0), length, side.region.lkey};
  SendRequest r;
  r.sges = std::span(&sge, 1);
  ASSERT_EQ(qp->post_send(std::span(&r, 1)).error, 0);
}

// MRC-NIC-013: data has the QP's class; control packets and repairs have their own.
TEST(Service, ClassesOnTheWire) {
  DeviceSettings with = settings();
  ASSERT_TRUE(read_dscp("control=48,trimmable_retx=30", with.wire));
  Side side(loopback("a", 1), with);
  Witness witness(9);
  QueuePair* qp = side.create();
  QpAttributes a = toward(9);
  a.traffic_class = 20 << 2 | 1;  // ECN bits are not the program's
  raise(qp, a);
  post(side, qp, 6000);
  witness.probe(1, qp->qpn());
  bool data = false, repair = false, control = false;
  for (int i = 0; i < 2000 && !(data && repair && control); ++i) {
    const auto seen = witness.next();
    ASSERT_TRUE(seen);
    switch (seen->opcode) {
      case wire::Opcode::sack:
        control = true;
        EXPECT_EQ(seen->dscp, 48);
        break;
      case wire::Opcode::probe: EXPECT_EQ(seen->dscp, 20); break;
      default:
        (seen->retransmitted ? repair : data) = true;
        EXPECT_EQ(seen->dscp, seen->retransmitted ? 30 : 20);
    }
  }
  EXPECT_TRUE(data && repair && control);
}

// MRC-NIC-015, MRC-API-024
TEST(Service, TheClassOfARunningQpChanges) {
  Side side(loopback("a", 1));
  Witness witness(9);
  QueuePair* qp = side.create();
  QpAttributes a = toward(9);
  raise(qp, a);
  post(side, qp, 100);
  auto seen = witness.next();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->dscp, wire::Settings{}.dscp_trimmable);
  a.traffic_class = 12 << 2;
  a.service_level = 15;
  ASSERT_EQ(qp->modify(QpState::rts, a), 0);
  post(side, qp, 100);
  while ((seen = witness.next()) && seen->dscp != 12) continue;
  EXPECT_TRUE(seen);
}

// MRC-API-024: what can't change in place is refused.
TEST_F(TwoDevices, WhatTheEndsAgreedOnDoesNotChange) {
  const QpAttributes now = attributes(b, qb->qpn());
  const auto changed = [&](auto&& change) {
    QpAttributes q = now;
    change(q);
    return qa->modify(QpState::rts, q);
  };
  EXPECT_EQ(changed([](QpAttributes&) {}), 0);
  EXPECT_EQ(changed([](QpAttributes& q) { q.remote_qpn = Qpn(5); }), EINVAL);
  EXPECT_EQ(changed([](QpAttributes& q) { q.path_mtu = 1024; }), EINVAL);
  EXPECT_EQ(changed([](QpAttributes& q) { q.send_psn = Psn(9); }), EINVAL);
  EXPECT_EQ(changed([](QpAttributes& q) { q.remote_gid[15] ^= 1; }), EINVAL);
  EXPECT_EQ(changed([](QpAttributes& q) { q.service_level = 16; }), EINVAL);
  EXPECT_EQ(changed([](QpAttributes& q) { q.traffic_class = wire::Settings{}.dscp_trimmed << 2; }), EINVAL);
  ASSERT_EQ(write(0, 0, 1000, 7).error, 0);
  EXPECT_EQ(a.poll(1).at(0).status, WorkStatus::success);
}

// MRC-API-024
TEST_F(TwoDevices, AccessIsTakenAwayFromARunningQp) {
  QpAttributes closed = attributes(a, qa->qpn());
  closed.remote_write = false;
  ASSERT_EQ(qb->modify(QpState::rts, closed), 0);
  ASSERT_EQ(write(0, 0, 1000, 7).error, 0);
  EXPECT_EQ(a.poll(1).at(0).status, WorkStatus::remote_access_error);
}

// MRC-API-024
TEST_F(TwoDevices, ProfilesChangeInInitAndAreGivenBack) {
  node::ProfileStore& profiles = a.device->profiles();
  for (const std::uint64_t id : {8, 9}) {
    node::EvChange make;
    make.state = node::ProfileState::offline;
    make.mode = node::EvMode::automatic;
    make.count = 4;
    ASSERT_EQ(profiles.modify_ev(id, make).error, 0);
    node::EvChange online;
    online.state = node::ProfileState::online;
    online.min_active = 1;
    online.event_mask = 0;
    ASSERT_EQ(profiles.modify_ev(id, online).error, 0);
  }
  QueuePair* qp = a.create();
  QpAttributes with = attributes(b, qb->qpn());
  with.ev_profile = 8;
  ASSERT_EQ(qp->modify(QpState::init, with), 0);
  with.ev_profile = 9;
  ASSERT_EQ(qp->modify(QpState::init, with), 0);
  EXPECT_EQ(profiles.ev(8).users, 0u);
  EXPECT_EQ(profiles.ev(9).users, 1u);
  with.ev_profile = 77;
  EXPECT_NE(qp->modify(QpState::init, with), 0);
  EXPECT_EQ(profiles.ev(9).users, 1u);  // as it was
}

TEST(ServiceSettings, Words) {
  wire::Settings s;
  ASSERT_TRUE(read_dscp("trimmable=3,control=63", s));
  EXPECT_EQ(s.dscp_trimmable, 3);
  EXPECT_EQ(s.dscp_control, 63);
  for (const char* wrong :
       {"trimmable", "trimmable=64", "nobody=3", "control=-1", "trimmed=63", "control=1,,"})
    EXPECT_FALSE(read_dscp(wrong, s)) << wrong;
  nic::SchedulerSettings levels;
  ASSERT_TRUE(read_levels("weighted:5,4", levels));
  EXPECT_EQ(levels.levels, nic::LevelPolicy::weighted);
  EXPECT_EQ(levels.weights[0], 5);
  EXPECT_EQ(levels.weights[2], 3);  // as by default
  ASSERT_TRUE(read_levels("strict", levels));
  for (const char* wrong : {"", "fair", "weighted:", "weighted:0", "weighted:256", "weighted:1,x",
                            "weighted:1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"})
    EXPECT_FALSE(read_levels(wrong, levels)) << wrong;
}

}  // namespace
}  // namespace mrc::lib::testing
