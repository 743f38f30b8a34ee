// The engine's memory, counted where it is taken: fixed at creation, within its bound, and nothing
// afterwards.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <optional>

#include "engine/queue_pair.h"
#include "pair/fixed_window.h"
#include "pair/pair.h"

namespace {
std::size_t taken = 0;
}  // namespace

void* operator new(std::size_t size) {
  taken += size;
  if (void* p = std::malloc(size)) return p;
  std::abort();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  taken += size;
  const auto a = static_cast<std::size_t>(alignment);
  if (void* p = std::aligned_alloc(a, (size + a - 1) / a * a)) return p;
  std::abort();
}
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace mrc::pair {
namespace {

using engine::QueuePair;

struct Fixture : testing::Test, engine::Memory {
  Fixture() { config.path_table = paths; }
  Access check(RKey, std::uint64_t, std::uint32_t) override { return Access::ok; }

  std::vector<engine::Path> paths = make_paths(8, 16);
  engine::QpConfig config{.local = Qpn(1), .remote = Qpn(1)};
  FixedWindow window{1 << 20};
  engine::RecordPool pool{8192};
};
using MemoryTest = Fixture;

TEST_F(MemoryTest, AnIdleQueuePairFitsInFourKilobytes) {
  config.limits = {.send_depth = 1,
                   .recv_depth = 1};  // the rings of posted work are as deep as the application asked for
  const std::size_t before = taken;
  QueuePair qp(config, window, pool);
  const std::size_t all = sizeof(qp) + (taken - before);
  EXPECT_LE(all - sizeof(engine::Work) - sizeof(std::uint64_t), 4096u);
  EXPECT_LE(qp.bytes(), 4096u);
}

TEST_F(MemoryTest, APacketInFlightTakesSixteenBytesAtMost) {
  const std::size_t before = taken;
  engine::RecordPool other(1 << 16);
  EXPECT_LE(taken - before, (1u << 16) * 16u);
}

TEST_F(MemoryTest, NothingIsTakenAfterCreation) {
  QueuePair qp(config, window, pool);
  Time now{};
  for (auto s : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts}) qp.modify(now, s);
  const std::size_t before = taken;
  engine::Transmit t;
  engine::Completion c;
  std::uint64_t packets = 0, completions = 0;
  Prng prng(1);
  for (int round = 0; round < 2000; ++round) {
    while (qp.post_send(now, {.length = 20000}).error == 0) {
    }
    now += 10us;
    qp.handle_timeout(now);
    // The QP talks to itself; one packet in twenty is lost.
    while (qp.poll_transmit(now, PortMask(~0u), t)) {
      ++packets;
      if (!prng.chance(0.05)) qp.handle_packet(now, t.packet, t.envelope, *this);
    }
    while (qp.poll_completion(now, c)) ++completions;
  }
  EXPECT_EQ(taken, before);
  EXPECT_GT(packets, 10000u);
  EXPECT_GT(completions, 1000u);
}

}  // namespace
}  // namespace mrc::pair
