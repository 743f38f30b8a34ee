// Real processes that share one UDP port, and die in every way.
#include "port/seat.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <map>
#include <optional>

#include "base/prng.h"
#include "port/traffic_test_support.h"
#include "port/udp_port.h"

namespace mrc::port {
namespace {

using testing::Sandbox;
using testing::TestTrain;

const Address kLeft = *parse_address("fd77::1");
const Address kRight = *parse_address("fd77::2");

/// What a member tells its parent: where it sits, once; then each packet that it got.
struct Report {
  enum Kind : int { seated, failed, packet } kind;
  unsigned index;     // seated
  int error;          // failed
  std::uint32_t qpn;  // packet
  unsigned size;
};

void tell(int pipe, const Report& report) {
  if (::write(pipe, &report, sizeof report) < 0) ::_exit(2);
}

/// The life of a member: takes a seat, opens a port, reports packets until the pipe's other end is closed.
[[noreturn]] void live(int pipe, const SeatOptions& options) {
  auto seat = Seat::take(options);
  if (!seat) {
    tell(pipe, {Report::failed, 0, seat.error().code, 0, 0});
    ::_exit(1);
  }
  auto port = UdpPort::open({.local = kLeft}, *seat);
  if (!port) {
    tell(pipe, {Report::failed, 0, port.error().code, 0, 0});
    ::_exit(1);
  }
  tell(pipe, {Report::seated, (*seat)->index(), 0, 0, 0});
  for (;;) {
    pollfd ready[] = {{(*port)->wait_fd(), POLLIN, 0}, {(*port)->event_fd(), POLLIN, 0}, {pipe, POLLIN, 0}};
    ::poll(ready, 3, -1);
    if (ready[2].revents != 0) ::_exit(0);
    (*port)->service();
    RxPacket packets[8];
    while (const std::size_t n = (*port)->rx(packets))
      for (std::size_t i = 0; i < n; ++i) {
        const auto* b = reinterpret_cast<const unsigned char*>(packets[i].data);
        tell(pipe, {Report::packet, 0, 0, static_cast<std::uint32_t>(b[5] << 16 | b[6] << 8 | b[7]),
                    packets[i].size});
      }
  }
}

class Member {
 public:
  explicit Member(const SeatOptions& options = {}) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    pipe_ = Fd(pair[0]);
    pid_ = ::fork();
    if (pid_ == 0) {
      pipe_.reset();
      live(pair[1], options);
    }
    ::close(pair[1]);
  }
  ~Member() {
    pipe_.reset();
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
  }
  Member(const Member&) = delete;

  std::optional<Report> hear(int timeout_ms = 5000) {
    pollfd ready{pipe_.get(), POLLIN, 0};
    Report report;
    if (::poll(&ready, 1, timeout_ms) != 1) return std::nullopt;
    if (::read(pipe_.get(), &report, sizeof report) != sizeof report) return std::nullopt;
    return report;
  }
  bool await_seat() {
    const auto report = hear();
    if (!report || report->kind != Report::seated) return false;
    index_ = report->index;
    return true;
  }
  void signal(int number) { ::kill(pid_, number); }
  void kill_now() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  unsigned index() const { return index_; }
  Qpn qpn(std::uint32_t nth = 0) const { return Qpn(Steering{}.qpns_of(index_).first.value + nth); }
  pid_t pid() const { return pid_; }

 private:
  Fd pipe_;
  pid_t pid_ = -1;
  unsigned index_ = 0;
};

std::string packet_to(Qpn qpn, std::size_t size = 100) {
  std::string bytes(size, 'p');
  bytes[4] = 0;
  bytes[5] = static_cast<char>(qpn.value >> 16);
  bytes[6] = static_cast<char>(qpn.value >> 8);
  bytes[7] = static_cast<char>(qpn.value);
  return bytes;
}

class SeatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox_ = std::move(*made);
    sandbox_->right([&] {
      sender_ = std::move(*UdpPort::open({.local = kRight}));
      ASSERT_EQ(sender_->prepare_source_port(50000), 0);
    });
    sandbox_->stay_left();
  }
  void send(const std::string& bytes, std::uint32_t packet_bytes) {
    TestTrain out(bytes, packet_bytes, kLeft, 50000);
    ASSERT_EQ(sender_->tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0);
  }
  void send(Qpn qpn) { send(packet_to(qpn), 100); }
  void expect_own_packet(Member& member, Qpn qpn) {
    send(qpn);
    const auto got = member.hear();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, Report::packet);
    EXPECT_EQ(got->qpn, qpn.value);
  }

  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<UdpPort> sender_;
};

// MRC-PORT-001
TEST_F(SeatTest, EachProcessGetsThePacketsOfItsQps) {
  Member a, b, c;
  std::map<unsigned, Member*> by_seat;
  for (Member* m : {&a, &b, &c}) {
    ASSERT_TRUE(m->await_seat());
    by_seat[m->index()] = m;
  }
  ASSERT_EQ(by_seat.size(), 3u);
  Prng random(7);
  for (int i = 0; i < 200; ++i) {
    Member& m = *std::next(by_seat.begin(), random.below(3))->second;
    const QpnRange range = Steering{}.qpns_of(m.index());
    const Qpn qpn(static_cast<std::uint32_t>(random.between(range.first.value, range.last.value)));
    expect_own_packet(m, qpn);
    if (HasFatalFailure()) return;
  }
  for (Member* m : {&a, &b, &c}) EXPECT_FALSE(m->hear(0)) << "a packet too many";
}

TEST_F(SeatTest, PlacesHoldWhoeverIsKilled) {
  std::vector<std::unique_ptr<Member>> members;
  Prng random(11);
  for (int round = 0; round < 15; ++round) {
    while (members.size() < 4) {
      members.push_back(std::make_unique<Member>());
      ASSERT_TRUE(members.back()->await_seat());
    }
    for (auto& m : members) {
      expect_own_packet(*m, m->qpn(static_cast<std::uint32_t>(round)));
      if (HasFatalFailure()) return;
    }
    // The founder first, then anybody.
    members.erase(members.begin() + (round == 0 ? 0 : static_cast<int>(random.below(4))));
    for (auto& m : members) {
      expect_own_packet(*m, m->qpn());
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(SeatTest, AFreshGroupFollowsTheDeathOfAll) {
  for (int round = 0; round < 10; ++round) {
    Member a, b;
    ASSERT_TRUE(a.await_seat());
    ASSERT_TRUE(b.await_seat());
    expect_own_packet(b, b.qpn());
    expect_own_packet(a, a.qpn());
    if (HasFatalFailure()) return;
  }
}

TEST_F(SeatTest, ManyStartAtOnce) {
  std::vector<std::unique_ptr<Member>> members;
  for (int i = 0; i < 8; ++i) members.push_back(std::make_unique<Member>());
  for (auto& m : members) ASSERT_TRUE(m->await_seat());
  for (auto& m : members) expect_own_packet(*m, m->qpn());
}

TEST_F(SeatTest, ACoalescedMessageOfTwoProcessesReachesBoth) {
  Member a, b;
  ASSERT_TRUE(a.await_seat());
  ASSERT_TRUE(b.await_seat());
  send(packet_to(a.qpn(1)) + packet_to(b.qpn(2)) + packet_to(a.qpn(3)) + packet_to(b.qpn(4), 60), 100);
  for (const std::uint32_t n : {1u, 3u}) EXPECT_EQ(a.hear().value_or(Report{}).qpn, a.qpn(n).value);
  for (const std::uint32_t n : {2u, 4u}) EXPECT_EQ(b.hear().value_or(Report{}).qpn, b.qpn(n).value);
}

// MRC-PORT-002
TEST_F(SeatTest, TheEndpointPassesOnWhenItsHolderDies) {
  auto first = std::make_unique<Member>();
  ASSERT_TRUE(first->await_seat());
  Member second;
  ASSERT_TRUE(second.await_seat());
  expect_own_packet(*first, kEndpointQpn);
  first->kill_now();
  // The second hears of it by itself; a packet that comes before waits in the place that it inherits.
  expect_own_packet(second, kEndpointQpn);
}

TEST_F(SeatTest, TheDaemonGetsTheEndpointFromItsHolder) {
  Member application, bystander;
  ASSERT_TRUE(application.await_seat());
  ASSERT_TRUE(bystander.await_seat());
  auto daemon = std::make_unique<Member>(SeatOptions{.endpoint = EndpointRole::insist});
  ASSERT_TRUE(daemon->await_seat());
  expect_own_packet(*daemon, kEndpointQpn);
  EXPECT_FALSE(application.hear(0));
  daemon->kill_now();
  send(kEndpointQpn);
  const bool heard = application.hear(1000).has_value() || bystander.hear(1000).has_value();
  EXPECT_TRUE(heard) << "nobody took the endpoint back";
}

/// A packet of QP 2: `opcode`, and an id in its PSN; the endpoint operation is a Port Status Update.
std::string endpoint_packet(unsigned char opcode, std::uint16_t id) {
  std::string packet(60, '\0');
  packet[0] = static_cast<char>(opcode);
  packet[7] = 2;
  packet[10] = static_cast<char>(id >> 8);
  packet[11] = static_cast<char>(id);
  return packet;
}

TEST_F(SeatTest, AnAnswerReachesWhoAsked) {  // MRC-NODE-006
  Member holder;
  ASSERT_TRUE(holder.await_seat());
  Member asker;
  ASSERT_TRUE(asker.await_seat());
  const auto ids = Steering{}.request_ids_of(asker.index());
  for (const unsigned id : {unsigned{ids.first}, unsigned{ids.first} + ids.mask}) {
    send(endpoint_packet(0xD9, static_cast<std::uint16_t>(id)), 60);
    EXPECT_EQ(asker.hear().value_or(Report{}).qpn, 2u);
  }
  EXPECT_FALSE(holder.hear(0));
}

TEST_F(SeatTest, APeersPortStatusReachesEveryProcess) {  // MRC-NODE-007
  Member holder;  // who comes first holds the endpoint
  ASSERT_TRUE(holder.await_seat());
  Member second, third;
  for (Member* m : {&second, &third}) ASSERT_TRUE(m->await_seat());
  send(endpoint_packet(0xD8, 7), 60);
  for (Member* m : {&holder, &second, &third}) EXPECT_EQ(m->hear().value_or(Report{}).qpn, 2u);
  std::string probe = endpoint_packet(0xD8, 7);
  probe[13] = 1;  // an EV probe: the holder's alone
  send(probe, 60);
  EXPECT_EQ(holder.hear().value_or(Report{}).qpn, 2u);
  for (Member* m : {&second, &third}) EXPECT_FALSE(m->hear(0));
}

TEST_F(SeatTest, SaysWhichProcessDoesNotAnswer) {
  Member stopped;
  ASSERT_TRUE(stopped.await_seat());
  stopped.signal(SIGSTOP);
  auto seat = Seat::take({});
  ASSERT_TRUE(seat);
  const auto port = UdpPort::open({.local = kLeft}, *seat);
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code, ETIMEDOUT);
  EXPECT_NE(port.error().what.find(std::to_string(stopped.pid())), std::string::npos) << port.error().what;
}

TEST_F(SeatTest, RefusesAnotherNumberOfSeats) {
  Member usual;
  ASSERT_TRUE(usual.await_seat());
  Member odd({.steering = {.seats = 16}});
  const auto report = odd.hear();
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind, Report::failed);
  EXPECT_EQ(report->error, EPROTO);
  EXPECT_EQ(Seat::take({.steering = {.seats = 12}}).error().code, EINVAL);
}

TEST_F(SeatTest, SaysWhenAllSeatsAreTaken) {
  std::vector<std::shared_ptr<Seat>> seats;
  for (int i = 0; i < 2; ++i) {
    auto seat = Seat::take({.steering = {.seats = 2}});
    ASSERT_TRUE(seat);
    seats.push_back(*seat);
  }
  EXPECT_EQ(Seat::take({.steering = {.seats = 2}}).error().code, EUSERS);
  seats.pop_back();
  EXPECT_TRUE(Seat::take({.steering = {.seats = 2}}));
}

TEST(Steering, RangesAreDisjointAndCoverAllQps) {
  for (const std::uint16_t seats : {2, 32, 128}) {
    const Steering steering{.seats = seats};
    std::uint32_t next = Steering::kFirstOrdinaryQpn.value;
    for (unsigned i = 0; i < seats; ++i) {
      const QpnRange range = steering.qpns_of(i);
      EXPECT_EQ(range.first.value, next);
      EXPECT_EQ(steering.index_of(range.first), i);
      EXPECT_EQ(steering.index_of(range.last), i);
      next = range.last.value + 1;
    }
    EXPECT_EQ(next, 1u << 24);
    EXPECT_EQ(steering.index_of(kEndpointQpn), seats);
  }
}

}  // namespace
}  // namespace mrc::port
