// A device makes as many objects as it promises, and not one more; when one goes, another may come.
#include "lib/nic_device_fixture.h"

namespace mrc::lib::testing {
namespace {

/// Makes objects until the device refuses. How many there were, and the errno of the refusal.
template <class Make>
std::pair<std::size_t, int> make_all(std::size_t promised, Make make) {
  for (std::size_t n = 0; n <= promised; ++n)
    if (const auto made = make(); !made) return {n, made.error().code};
  return {promised + 1, 0};
}

struct Promises : ::testing::Test {
  std::shared_ptr<NicDevice> device = open(loopback("a", 1));
  const Limits limits = device->limits();
  Ear ear;
};

TEST_F(Promises, CompletionQueues) {
  std::vector<CompletionQueue*> all;
  const auto make = [&] {
    auto made = device->create_cq(1, &ear);
    if (made) all.push_back(*made);
    return made;
  };
  EXPECT_EQ(make_all(limits.max_cq, make), std::pair(std::size_t{limits.max_cq}, ENOMEM));
  ASSERT_EQ(device->destroy_cq(all.back()), 0);
  all.pop_back();
  EXPECT_TRUE(make());
  for (CompletionQueue* cq : all) EXPECT_EQ(device->destroy_cq(cq), 0);
}

TEST_F(Promises, DomainsAndQueuePairs) {
  std::vector<Pd> pds;
  const auto domain = [&] {
    auto made = device->create_pd();
    if (made) pds.push_back(*made);
    return made;
  };
  EXPECT_EQ(make_all(limits.max_pd, domain), std::pair(std::size_t{limits.max_pd}, ENOMEM));

  CompletionQueue* cq = *device->create_cq(1, &ear);
  std::vector<QueuePair*> qps;
  const auto queue_pair = [&] {
    auto made = device->create_qp({.pd = pds[0], .send_cq = cq, .recv_cq = cq, .listener = &ear});
    if (made) qps.push_back(*made);
    return made;
  };
  EXPECT_EQ(make_all(limits.max_qp, queue_pair), std::pair(std::size_t{limits.max_qp}, ENOMEM));

  for (QueuePair* qp : qps) EXPECT_EQ(device->destroy_qp(qp), 0);
  EXPECT_EQ(device->destroy_cq(cq), 0);
  for (const Pd& pd : pds) EXPECT_EQ(device->destroy_pd(pd), 0);
}

}  // namespace
}  // namespace mrc::lib::testing
