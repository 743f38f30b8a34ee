// Real processes that share one UDP port, and die in every way.
#include <sys/resource.h>

#include <map>

#include "base/prng.h"
#include "port/seat_test_support.h"

namespace mrc::port {
namespace {

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

TEST_F(SeatTest, WhoTakesThePlaceOfADeadOneGetsItsPacketsAndNotItsTroubles) {
  const SeatOptions two{.steering = {.seats = 2}};
  Member keeper(two);
  ASSERT_TRUE(keeper.await_seat());
  Member dead(two, true);
  ASSERT_TRUE(dead.await_seat());
  const Qpn qpn = two.steering.qpns_of(dead.index()).first;
  for (int i = 0; i < 10; ++i) send(qpn);
  dead.kill_now();
  auto seat = Seat::take(two);
  ASSERT_TRUE(seat);
  ASSERT_EQ((*seat)->index(), dead.index());
  const auto port = UdpPort::open({.local = kLeft, .doorbell = false}, *seat);
  ASSERT_TRUE(port) << port.error().what;
  for (int i = 0; i < 10; ++i) send(qpn);
  EXPECT_EQ(testing::receive(**port, 10).size(), 10u);
  EXPECT_EQ((*port)->counters().rx_overrun, 0u) << "what came by the mailbox of the dead";
}

TEST_F(SeatTest, ACoalescedMessageOfTwoProcessesReachesBoth) {
  Member a, b;
  ASSERT_TRUE(a.await_seat());
  ASSERT_TRUE(b.await_seat());
  send(packet_to(a.qpn(1)) + packet_to(b.qpn(2)) + packet_to(a.qpn(3)) + packet_to(b.qpn(4), 60), 100);
  for (const std::uint32_t n : {1u, 3u}) EXPECT_EQ(a.hear().value_or(Report{}).qpn, a.qpn(n).value);
  for (const std::uint32_t n : {2u, 4u}) EXPECT_EQ(b.hear().value_or(Report{}).qpn, b.qpn(n).value);
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

/// The limit of open files, lowered for a while.
struct FewFiles {
  rlimit before{};
  explicit FewFiles(rlim_t most) {
    ::getrlimit(RLIMIT_NOFILE, &before);
    const rlimit low{most, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &low);
  }
  ~FewFiles() { ::setrlimit(RLIMIT_NOFILE, &before); }
};

/// How far a process gets that may have so many files open: no error, or which.
Error open_with(rlim_t files) {
  const FewFiles few(files);
  auto seat = Seat::take({});
  if (!seat) return seat.error();
  const auto port = UdpPort::open({.local = kLeft}, *seat);
  return port ? Error{} : port.error();
}

// Whatever it was about to open when there was no descriptor left, the reason is that, and not the process
// whose sockets it should have got.
TEST_F(SeatTest, SaysThatThereAreNoDescriptorsLeft) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs descriptors of its own";
#endif
  Member other;
  ASSERT_TRUE(other.await_seat());
  const auto free = static_cast<rlim_t>(Fd(::dup(2)).get());
  unsigned refused = 0;
  for (rlim_t more = 0; more < 60; ++more) {
    const Error error = open_with(free + more);
    if (error.code == 0) break;
    ++refused;
    ASSERT_EQ(error.code, EMFILE) << more << " descriptors: " << error.what;
    EXPECT_NE(error.what.find("ulimit -n"), std::string::npos) << error.what;
  }
  EXPECT_GT(refused, 10u);
  EXPECT_LT(refused, 60u) << "with enough of them it works";
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
