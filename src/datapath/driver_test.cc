// Two drivers talk in bytes: over ports in memory, where every byte can be touched, and over real UDP
// sockets.
#include <poll.h>

#include <chrono>

#include "base/prng.h"
#include "datapath/driver_test_support.h"
#include "port/udp_port.h"

namespace mrc::datapath::testing {
namespace {

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

// A burst of 32 KiB would end in the middle of each unit.
TEST(Driver, ABurstEndsWhereASprayUnitDoes) {
  MemoryPort left(address("10.1.0.1"), 64), right(address("10.1.0.2"), 64);
  left.join(right);
  DriverSettings settings;
  settings.outbox.unit = 15;
  Station a(1, Wired::one_port(), {&left}, settings), b(2, Wired::one_port(), {&right}, settings);
  nic::QpConnect like;
  like.path_settings.spray_unit = 15;
  const auto qps = connect(a, b, Time{}, like);
  ASSERT_EQ(write(a, b, Time{}, qps.a, 0, 0, 32 * 4096), 0);
  a.driver.turn(Time{});
  EXPECT_EQ(left.train_lengths, (std::vector<std::uint16_t>{15, 15, 2}));
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
