// Two drivers talk in bytes: over ports in memory, where every byte can be touched, and over real UDP
// sockets.
#include "datapath/driver.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstring>

#include "base/prng.h"
#include "datapath/testing.h"
#include "port/udp_port.h"

namespace mrc::datapath::testing {
namespace {

using engine::WorkStatus;

port::Address address(const char* text) { return *port::parse_address(text); }

/// Two stations over one port in memory each, in virtual time.
struct Wired : ::testing::Test {
  explicit Wired(std::uint32_t max_train = 16)
      : left(address("10.1.0.1"), max_train),
        right(address("10.1.0.2"), max_train),
        a(1, one_port(), {&left}),
        b(2, one_port(), {&right}) {
    left.join(right);
  }
  static nic::testing::HostOptions one_port() {
    nic::testing::HostOptions o;
    o.ports = 1;
    return o;
  }
  void run(int turns = 20'000) {
    for (int i = 0; i < turns; ++i) {
      now += 1us;
      const bool moved = a.driver.turn(now) | b.driver.turn(now);
      const Time next = std::min(a.driver.next_timeout(), b.driver.next_timeout());
      if (!moved && next == kNever) return;
      if (!moved && next > now) now = next;
    }
  }
  bool arrived(std::size_t from, std::size_t to, std::size_t length) const {
    return std::memcmp(&a.host.memory[from], &b.host.memory[to], length) == 0;
  }

  MemoryPort left, right;
  Station a, b;
  Time now{};
};

// MRC-NIC-011
TEST_F(Wired, AReplyGoesBeforeTheAnswersOfWhatItRepliesTo) {
  const auto qps = connect(a, b, now);
  run();
  left.train_lengths.clear(), right.train_lengths.clear();
  std::vector<std::uint8_t> opcodes;
  right.tamper = [&](std::string& bytes) {
    opcodes.push_back(static_cast<std::uint8_t>(bytes[0]));
    return true;
  };
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
  a.driver.transmit(now += 1us);
  EXPECT_TRUE(b.driver.glance(now += 1us));
  EXPECT_TRUE(opcodes.empty());
  ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
  b.driver.transmit(now);
  EXPECT_EQ(opcodes, std::vector<std::uint8_t>({0xCA}));
  for (const Time until = now + HoldSettings{}.most; now <= until;)
    b.driver.glance(now += HoldSettings{}.regret);  // in time, but nothing came, and that takes too long
  // SACK and Transport ACK; and who only receives asks whether its answers get through.
  EXPECT_EQ(opcodes, std::vector<std::uint8_t>({0xCA, 0xDC, 0xD1, 0xDE}));
}

TEST_F(Wired, AConversationSharesAnswers) {
  const auto qps = connect(a, b, now);
  run();
  int answers = 0, writes = 0;
  left.tamper = right.tamper = [&](std::string& bytes) {
    const auto opcode = static_cast<std::uint8_t>(bytes[0]);
    answers += opcode == 0xDC || opcode == 0xD1;
    writes += opcode == 0xCA;
    return true;
  };
  for (int round = 0; round < 32; ++round) {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.transmit(now);
    b.driver.glance(now += 1us);
    ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
    b.driver.transmit(now);
    for (int i = 0; i < 3; ++i) b.driver.glance(now += 300ns);
    a.driver.glance(now += 300ns);
    a.host.poll(), b.host.poll();
  }
  EXPECT_EQ(writes, 64);
  const auto shared = static_cast<int>(HoldSettings{}.packets);
  EXPECT_GE(answers, 2 * 64 / shared - 4);
  EXPECT_LE(answers, 2 * 64 / (shared - 1));
  now += 1ms;
  b.driver.turn(now), a.driver.turn(now), b.driver.turn(now);
  EXPECT_EQ(qps.a.engine->requestor().queue().outstanding(), 0);
  EXPECT_EQ(qps.b.engine->requestor().queue().outstanding(), 0);
}

/// A peer that waits for its completion before it goes on: the bet is lost each time, and made ever more
/// seldom.
TEST_F(Wired, APeerThatWaitsForItsCompletionIsNotKeptWaitingOften) {
  const auto qps = connect(a, b, now);
  run();
  int kept = 0;
  for (int round = 0; round < 400; ++round) {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.transmit(now);
    b.driver.glance(now += 1us);
    ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
    b.driver.transmit(now);
    const Time replied = now;
    while (a.host.poll().empty()) {
      b.driver.glance(now += 300ns);
      a.driver.turn(now);
      ASSERT_LT(now - replied, HoldSettings{}.most + 10us);
    }
    kept += now - replied > 5us;
    b.driver.glance(now += 300ns);
    b.host.poll();
  }
  EXPECT_LE(kept, 12);
}

TEST_F(Wired, AReplyMayTakeAMoment) {
  const auto qps = connect(a, b, now);
  run();
  int answers = 0;
  right.tamper = [&](std::string& bytes) {
    answers += static_cast<std::uint8_t>(bytes[0]) == 0xDC;
    return true;
  };
  const auto arrive_and_poll = [&](Duration how_long) {
    EXPECT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.turn(now += 1us);
    for (const Time until = now + how_long; now < until;) b.driver.glance(now += 500ns);
  };
  arrive_and_poll(HoldSettings{}.reply - 2us);
  EXPECT_EQ(answers, 0);
  ASSERT_EQ(write(b, a, now, qps.b, 0, 64, 8), 0);
  b.driver.transmit(now);
  EXPECT_EQ(answers, 0);
  b.driver.turn(now += 1us);
  EXPECT_EQ(answers, 1);
  arrive_and_poll(HoldSettings{}.reply + 2us);
  EXPECT_EQ(answers, 2) << "not for ever";
  arrive_and_poll(2us);
  EXPECT_EQ(answers, 3) << "and not again at once";
}

TEST_F(Wired, AnswersDoNotWaitForAnApplicationThatCameBackLate) {
  const auto qps = connect(a, b, now);
  run();
  const auto arrive = [&] {
    ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 8), 0);
    a.driver.turn(now += 1us);
  };
  arrive();
  b.driver.glance(now += 1us);
  EXPECT_FALSE(a.driver.turn(now));  // held
  b.driver.glance(now += 1ms);       // late
  EXPECT_TRUE(a.driver.turn(now));
  arrive();
  b.driver.glance(now += 1us);
  EXPECT_TRUE(a.driver.turn(now));  // not held again
}

TEST_F(Wired, BytesArriveWhateverTheLength) {
  const auto qps = connect(a, b, now);
  for (const std::uint32_t length : {0u, 1u, 2u, 3u, 4u, 100u, 255u, 256u, 257u, 4096u, 4097u, 70'001u}) {
    ASSERT_EQ(write(a, b, now, qps.a, 11, 77, length), 0);
    run();
    EXPECT_TRUE(arrived(11, 77, length)) << length;
    const auto done = a.host.poll();
    ASSERT_EQ(done.size(), 1u) << length;
    EXPECT_EQ(done[0].status, WorkStatus::success);
  }
  EXPECT_EQ(b.driver.refused().total(), 0u);
}

TEST_F(Wired, ASprayUnitBecomesATrain) {
  nic::QpConnect like;
  like.path_settings.spray_unit = 8;
  const auto qps = connect(a, b, now, like);
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 32 * 4096), 0);
  a.driver.turn(now);
  EXPECT_EQ(left.train_lengths, (std::vector<std::uint16_t>{8, 8, 8, 8}));
  run();
  EXPECT_TRUE(arrived(0, 0, 32 * 4096));
}

TEST_F(Wired, TheShortLastPacketEndsItsTrain) {
  nic::QpConnect like;
  like.path_settings.spray_unit = 8;
  const auto qps = connect(a, b, now, like);
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 2 * 4096 + 5), 0);
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 2 * 4096), 0);
  a.driver.turn(now);
  EXPECT_EQ(left.train_lengths, (std::vector<std::uint16_t>{3, 2}));
}

TEST_F(Wired, CorruptBytesAreRefusedAndRepaired) {
  Prng prng(5);
  left.tamper = [&](std::string& bytes) {
    if (prng.chance(0.03)) bytes[prng.below(static_cast<std::uint32_t>(bytes.size()))] ^= 0x10;
    return !prng.chance(0.02);
  };
  const auto qps = connect(a, b, now);
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 1 << 20), 0);
  run(200'000);
  EXPECT_TRUE(arrived(0, 0, 1 << 20));
  EXPECT_GT(b.driver.refused()[Verdict::bad_icrc], 3u);
  EXPECT_EQ(a.host.poll().at(0).status, WorkStatus::success);
}

TEST_F(Wired, APortWithoutRoomHoldsWhatItDidNotTake) {
  const auto qps = connect(a, b, now);
  left.room = 3;
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 40 * 4096), 0);
  a.driver.turn(now);
  EXPECT_EQ(left.counters().tx_packets, 3u);
  left.room = ~std::size_t{0};
  run();
  EXPECT_TRUE(arrived(0, 0, 40 * 4096));
  EXPECT_EQ(qps.a.engine->requestor().counters().repairs, 0u);
}

TEST_F(Wired, WhatWaitsCanBeDroppedBeforeItsMemoryGoes) {
  const auto qps = connect(a, b, now);
  left.room = 3;
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 40 * 4096), 0);
  a.driver.turn(now);
  a.driver.discard_unsent();
  left.room = ~std::size_t{0};
  run();
  EXPECT_TRUE(arrived(0, 0, 40 * 4096));
  EXPECT_GT(qps.a.engine->requestor().counters().repairs, 0u);
}

TEST_F(Wired, RandomBytesAreCountedAndNothingElse) {
  const auto qps = connect(a, b, now);
  const auto before = b.host.memory;
  Prng prng(9);
  // Every packet of a real transfer, each damaged at random so that none is whole: what gets through is only
  // noise.
  left.tamper = [&](std::string& bytes) {
    const std::uint32_t flips = 1 + prng.below(8);
    for (std::uint32_t i = 0; i < flips; ++i) {
      bytes[prng.below(static_cast<std::uint32_t>(bytes.size()))] ^= static_cast<char>(1 + prng.below(255));
    }
    if (prng.chance(0.3)) bytes.resize(prng.below(static_cast<std::uint32_t>(bytes.size())) + 1);
    return true;
  };
  ASSERT_EQ(write(a, b, now, qps.a, 0, 0, 1 << 20), 0);
  for (int i = 0; i < 3000; ++i) {
    now += 100us;
    a.driver.turn(now);
    b.driver.turn(now);
  }
  EXPECT_GT(b.driver.refused().total(), 300u);
  // BTH byte 4 is masked by the iCRC, so a flip there alone leaves a good packet: at most a few, all of them
  // true.
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_TRUE(b.host.memory[i] == before[i] || b.host.memory[i] == a.host.memory[i]) << i;
  }
}

TEST_F(Wired, ALinkEventReachesTheNic) {
  connect(a, b, now);
  left.set_link(false);
  now += 1ms;
  a.driver.turn(now);
  EXPECT_TRUE(a.host.nic.ports_up().empty());
}

/// Real sockets, two addresses of loopback, one thread that takes turns and sleeps on the ports when idle.
TEST(Udp, AMegabyteOverLoopback) {
  const auto open = [](const char* where) {
    port::UdpPortOptions options;
    options.local = address(where);
    options.udp_port = 14791;
    return port::UdpPort::open(options);
  };
  auto left = open("127.0.0.1");
  auto right = open("127.0.0.2");
  ASSERT_TRUE(left) << left.error().what;
  ASSERT_TRUE(right) << right.error().what;
  DriverSettings settings;
  settings.wire.udp_port = 14791;
  nic::testing::HostOptions options;
  options.ports = 1;
  Station a(1, options, {left->get()}, settings), b(2, options, {right->get()}, settings);
  const auto clock = [] { return Time(std::chrono::steady_clock::now().time_since_epoch()); };
  nic::QpConnect like;
  like.path_settings.spray_unit = 4;
  const auto qps = connect(a, b, clock(), like);
  ASSERT_EQ(write(a, b, clock(), qps.a, 0, 0, 1 << 20, 5), 0);
  const Time end = clock() + 20s;
  std::vector<nic::Cqe> done;
  while (done.empty() && clock() < end) {
    const bool moved = a.driver.turn(clock()) | b.driver.turn(clock());
    done = a.host.poll();
    if (moved || !done.empty()) continue;
    pollfd fds[2] = {{(*left)->wait_fd(), POLLIN, 0}, {(*right)->wait_fd(), POLLIN, 0}};
    ::poll(fds, 2, 1);
  }
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, WorkStatus::success);
  EXPECT_EQ(a.host.memory, b.host.memory);
}

// MRC-NIC-012: over real sockets, from an address that no peer has.
TEST(Sockets, AStrangersPortStatusMovesNothing) {
  const auto open = [](const char* at) {
    return port::UdpPort::open({.local = address(at), .udp_port = 14792});
  };
  auto left = open("127.0.0.1"), right = open("127.0.0.2"), outside = open("127.0.0.3");
  ASSERT_TRUE(left && right && outside);
  DriverSettings settings;
  settings.wire.udp_port = 14792;
  nic::testing::HostOptions options;
  options.ports = 1;
  Station a(1, options, {left->get()}, settings), b(2, options, {right->get()}, settings),
      c(3, options, {outside->get()}, settings);
  const auto clock = [] { return Time(std::chrono::steady_clock::now().time_since_epoch()); };
  const auto qps = connect(a, b, clock());
  nic::EndpointWork lie{.to = {address("127.0.0.2").ip}, .op = wire::EndpointOp::port_status_update};
  lie.ev = Ev(50'000);
  lie.port = PortId(1);
  ASSERT_EQ(c.host.nic.post_endpoint(clock(), lie), 0);
  const Time end = clock() + 20s;
  while (b.host.nic.verdicts()[Verdict::wrong_peer] == 0 && clock() < end) {
    c.driver.turn(clock());
    if (b.driver.turn(clock())) continue;
    pollfd fds[2] = {{(*right)->wait_fd(), POLLIN, 0}, {(*outside)->wait_fd(), POLLIN, 0}};
    ::poll(fds, 2, 1);
  }
  EXPECT_EQ(b.host.nic.verdicts()[Verdict::wrong_peer], 1u);
  EXPECT_TRUE(qps.b.engine->paths().port_usable(PortId(1)));
}

}  // namespace
}  // namespace mrc::datapath::testing
