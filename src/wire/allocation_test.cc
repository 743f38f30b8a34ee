// MRC-WIRE-060: no allocation per packet. This program counts every call of operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "wire/codec.h"
#include "wire/testing.h"

namespace {
std::size_t allocations = 0;

void* counted(std::size_t n) {
  ++allocations;
  if (void* p = std::malloc(n)) return p;
  std::abort();
}
}  // namespace

void* operator new(std::size_t n) { return counted(n); }
void* operator new[](std::size_t n) { return counted(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace mrc::wire {
namespace {

TEST(Allocation, TheCounterCounts) {
  const std::size_t before = allocations;
  delete new int(1);
  EXPECT_EQ(allocations, before + 1);
}

TEST(Allocation, NoneForAnyPacketAtAnyLevel) {
  Prng prng(41);
  std::vector<std::uint8_t> out(5000);
  const auto bytes = testing::random_bytes(4096, prng);
  const Settings settings;
  for (const Opcode op : testing::kOpcodes) {
    for (const Encapsulation e : testing::kFrames) {
      const Packet packet = testing::random_packet(op, prng);
      const Route route = testing::random_route(e, prng);
      const Bytes payload = Bytes(bytes).first(std::holds_alternative<Write>(packet.body) ? 4096 : 0);
      Parsed parsed;
      const std::size_t before = allocations;
      const std::size_t n = emit_l2(packet, {}, route, {}, {}, payload, settings, out);
      const Verdict v = parse_l2(Bytes(out).first(n), settings, parsed);
      const std::size_t after = allocations;
      EXPECT_EQ(v, Verdict::ok);
      EXPECT_EQ(after, before);
    }
  }
}

}  // namespace
}  // namespace mrc::wire
