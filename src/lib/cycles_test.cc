// Objects that come and go ten thousand times leave nothing behind. Sanitizers and valgrind run this too;
// MRC_CYCLES makes it shorter for them.
#include <malloc.h>

#include <cstdlib>

#include "lib/nic_device_fixture.h"

namespace mrc::lib::testing {
namespace {

int cycles() {
  const char* text = std::getenv("MRC_CYCLES");
  return text != nullptr ? std::atoi(text) : 10'000;
}

/// A domain, a region, a CQ and two connected QPs, with work that is still outstanding when they go.
void cycle(Side& a, Side& b) {
  const Pd pd = *a.device->create_pd();
  char memory[4096] = {};
  const Region region = *a.device->register_memory(
      pd, memory, sizeof memory, reinterpret_cast<std::uint64_t>(memory), {.local_write = true});
  CompletionQueue* cq = *a.device->create_cq(16, nullptr);
  QueuePair* x =
      *a.device->create_qp({.pd = pd, .send_cq = cq, .recv_cq = cq, .send_depth = 8, .recv_depth = 8});
  QueuePair* y =
      *b.device->create_qp({.pd = b.pd, .send_cq = b.cq, .recv_cq = b.cq, .send_depth = 8, .recv_depth = 8});
  raise(x, attributes(b, y->qpn()));
  raise(y, attributes(a, x->qpn()));
  const std::uint64_t ids[] = {1, 2};
  EXPECT_EQ(x->post_receive(ids).error, 0);
  const Sge sge{reinterpret_cast<std::uint64_t>(memory), sizeof memory, region.lkey};
  SendRequest r{.remote_va = b.va(0), .rkey = b.region.rkey, .sges = std::span(&sge, 1)};
  EXPECT_EQ(x->post_send(std::span(&r, 1)).error, 0);
  EXPECT_EQ(a.device->destroy_qp(x), 0);
  EXPECT_EQ(b.device->destroy_qp(y), 0);
  EXPECT_EQ(a.device->destroy_cq(cq), 0);
  EXPECT_EQ(a.device->deregister(region), 0);
  EXPECT_EQ(a.device->destroy_pd(pd), 0);
}

TEST(Cycles, ObjectsLeaveNothingBehind) {
  Side a(loopback("a", 1)), b(loopback("b", 2));
  const int all = cycles();
  for (int i = 0; i < all / 10; ++i) cycle(a, b);  // tables reach their size
  const std::size_t before = ::mallinfo2().uordblks;
  for (int i = all / 10; i < all; ++i) cycle(a, b);
  const std::size_t after = ::mallinfo2().uordblks;
  EXPECT_LT(after, before + 256 * 1024) << "bytes in use grew while objects came and went";
}

TEST(Cycles, DevicesComeAndGo) {
  for (int i = 0; i < 20; ++i) {
    Side a(loopback("a", 1)), b(loopback("b", 2));
    cycle(a, b);
  }
}

}  // namespace
}  // namespace mrc::lib::testing
