// What goes wrong between two devices: keys, bounds, memory that goes away, queues that overflow, many QPs.
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <sstream>
#include <thread>

#include "lib/nic_device_fixture.h"

namespace mrc::lib::testing {
namespace {

struct WrongAccess {
  const char* name;
  /// Where the write goes instead: its address and key.
  std::pair<std::uint64_t, std::uint32_t> (*aim)(Side& peer, Region& revoked, Region& foreign,
                                                 Region& closed);
};

class Access : public TwoDevices, public ::testing::WithParamInterface<WrongAccess> {};

INSTANTIATE_TEST_SUITE_P(
    Kinds, Access,
    ::testing::Values(
        WrongAccess{"wrong_rkey", [](Side& b, Region&, Region&,
                                     Region&) { return std::pair(b.va(0), b.region.rkey ^ 0x55); }},
        WrongAccess{"past_the_end", [](Side& b, Region&, Region&,
                                       Region&) { return std::pair(b.va((1 << 20) - 50), b.region.rkey); }},
        WrongAccess{"before_the_start",
                    [](Side& b, Region&, Region&, Region&) { return std::pair(b.va(0) - 1, b.region.rkey); }},
        WrongAccess{"around_the_top",
                    [](Side& b, Region&, Region&, Region&) {
                      return std::pair(~std::uint64_t{0} - 10, b.region.rkey);
                    }},
        WrongAccess{"revoked", [](Side& b, Region& revoked, Region&,
                                  Region&) { return std::pair(b.va(0), revoked.rkey); }},
        WrongAccess{"foreign_domain", [](Side& b, Region&, Region& foreign,
                                         Region&) { return std::pair(b.va(0), foreign.rkey); }},
        WrongAccess{"no_remote_write", [](Side& b, Region&, Region&,
                                          Region& closed) { return std::pair(b.va(0), closed.rkey); }}),
    [](const auto& p) { return p.param.name; });

// MRC-API-027
TEST_P(Access, IsARemoteAccessErrorAndNothingIsWritten) {
  const auto over_all = [&](Pd pd, bool remote_write) {
    return *b.device->register_memory(pd, b.memory.data(), b.memory.size(), b.va(0),
                                      {.local_write = true, .remote_write = remote_write});
  };
  const Pd other = *b.device->create_pd();
  Region revoked = over_all(b.pd, true), foreign = over_all(other, true), closed = over_all(b.pd, false);
  ASSERT_EQ(b.device->deregister(revoked), 0);
  const auto before = b.memory;
  const auto [va, rkey] = GetParam().aim(b, revoked, foreign, closed);
  const Sge sge{a.va(0), 100, a.region.lkey};
  SendRequest r[2];
  for (SendRequest& one : r) {
    one.remote_va = va;
    one.rkey = rkey;
    one.sges = std::span(&sge, 1);
  }
  r[0].wr_id = 1;
  r[1] = {.wr_id = 2, .remote_va = b.va(0), .rkey = b.region.rkey, .sges = {}};
  ASSERT_EQ(qa->post_send(r).error, 0);
  const auto done = a.poll(2);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].status, WorkStatus::remote_access_error);
  EXPECT_EQ(done[1].status, WorkStatus::flushed);
  EXPECT_EQ(b.memory, before);
  EXPECT_EQ(b.device->deregister(foreign), 0);
  EXPECT_EQ(b.device->deregister(closed), 0);
  EXPECT_EQ(b.device->destroy_pd(other), 0);
}

/// Pages of their own, so that touching them after they are gone is seen.
struct Pages {
  Pages()
      : bytes(static_cast<char*>(
            ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~Pages() { ::munmap(bytes, kSize); }
  std::uint64_t va() const { return reinterpret_cast<std::uint64_t>(bytes); }
  static constexpr std::size_t kSize = 1 << 20;
  char* bytes;
};

// MRC-API-027: the peer's memory goes while packets are on their way to it.
TEST_F(TwoDevices, RemoteMemoryIsUnregisteredUnderFire) {
  Pages pages;
  const Region target = *b.device->register_memory(b.pd, pages.bytes, Pages::kSize, pages.va(),
                                                   {.local_write = true, .remote_write = true});
  const Sge sge{a.va(0), 1 << 20, a.region.lkey};
  SendRequest r{.remote_va = pages.va(), .rkey = target.rkey, .sges = std::span(&sge, 1)};
  for (r.wr_id = 0; r.wr_id < 64; ++r.wr_id) ASSERT_EQ(qa->post_send(std::span(&r, 1)).error, 0);
  ASSERT_EQ(a.poll(1).at(0).status, WorkStatus::success);
  ASSERT_EQ(b.device->deregister(target), 0);
  ::mprotect(pages.bytes, Pages::kSize, PROT_NONE);  // a late write would be a crash
  const auto done = a.poll(63);
  ASSERT_EQ(done.size(), 63u);
  EXPECT_EQ(done.back().status, WorkStatus::flushed);
  int errors = 0;
  for (const WorkCompletion& c : done) errors += c.status == WorkStatus::remote_access_error;
  EXPECT_EQ(errors, 1);
}

// MRC-NIC-004: the same at the sending end.
TEST_F(TwoDevices, LocalMemoryIsUnregisteredUnderFire) {
  Pages pages;
  const Region source =
      *a.device->register_memory(a.pd, pages.bytes, Pages::kSize, pages.va(), {.local_write = true});
  const Sge sge{pages.va(), 1 << 20, source.lkey};
  SendRequest r{.remote_va = b.va(0), .rkey = b.region.rkey, .sges = std::span(&sge, 1)};
  for (r.wr_id = 0; r.wr_id < 64; ++r.wr_id) ASSERT_EQ(qa->post_send(std::span(&r, 1)).error, 0);
  ASSERT_EQ(a.poll(1).at(0).status, WorkStatus::success);
  ASSERT_EQ(a.device->deregister(source), 0);
  ::mprotect(pages.bytes, Pages::kSize, PROT_NONE);
  const auto done = a.poll(63);
  ASSERT_EQ(done.size(), 63u);
  int errors = 0;
  for (const WorkCompletion& c : done) errors += c.status == WorkStatus::local_protection_error;
  EXPECT_EQ(errors, 1);
}

// MRC-RSP-008: what was not delivered is no success to who sent it.
TEST_F(TwoDevices, AnImmediateWithoutAReceiveFailsAtItsSender) {
  const std::uint64_t posted = 77;
  ASSERT_EQ(qb->post_receive(std::span(&posted, 1)).error, 0);
  for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_EQ(write(0, 0, 100, id, SendOp::write_imm).error, 0);
  const auto done = a.poll(3);
  ASSERT_EQ(done.size(), 3u);
  EXPECT_EQ(done[0].status, WorkStatus::success);
  EXPECT_EQ(done[1].status, WorkStatus::remote_operation_error);
  EXPECT_EQ(done[2].status, WorkStatus::flushed);
}

// MRC-NIC-003
TEST_F(TwoDevices, AFullCqIsToldAndNeverSilent) {
  Ear ear;
  CompletionQueue* tiny = *a.device->create_cq(2, &ear);
  QpInit init{
      .pd = a.pd, .send_cq = tiny, .recv_cq = tiny, .send_depth = 64, .recv_depth = 1, .listener = &ear};
  QueuePair* qp = *a.device->create_qp(init);
  QueuePair* peer = b.create();
  raise(qp, attributes(b, peer->qpn()));
  raise(peer, attributes(a, qp->qpn()));
  std::vector<SendRequest> many(64);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].wr_id = i;
  ASSERT_EQ(qp->post_send(many).error, 0);
  ASSERT_TRUE(ear.wait_for(ear.overruns, 1));
  WorkCompletion some[4];
  ASSERT_EQ(tiny->poll(std::span(some, 2)), 2);  // those before it stay readable
  EXPECT_EQ(tiny->poll(some), -1);
  EXPECT_EQ(qp->state(), QpState::error);
  EXPECT_EQ(ear.overruns, 1);
  EXPECT_EQ(a.device->destroy_qp(qp), 0);
  EXPECT_EQ(a.device->destroy_cq(tiny), 0);
}

// A program that polls only when a post is refused needs no more room in its CQ than in its queue.
TEST_F(TwoDevices, APlaceInTheQueueIsFreeWhenItsCompletionIsPolled) {
  QpInit init{.pd = a.pd, .send_cq = a.cq, .recv_cq = a.cq, .send_depth = 2, .listener = &a.ear};
  QueuePair* qp = a.qps.emplace_back(*a.device->create_qp(init));
  QueuePair* peer = b.create();
  raise(qp, attributes(b, peer->qpn()));
  raise(peer, attributes(a, qp->qpn()));
  SendRequest quiet, signaled;
  quiet.signaled = false;
  for (int round = 0; round < 2; ++round) {
    a.cq->arm(false);
    for (const SendRequest& r : {quiet, signaled}) ASSERT_EQ(qp->post_send(std::span(&r, 1)).error, 0);
    ASSERT_TRUE(a.ear.wait_for(a.ear.events, round + 1));  // both are done, and nobody has polled
    EXPECT_EQ(qp->send_room(), 1u);
    ASSERT_EQ(qp->post_send(std::span(&signaled, 1)).error, 0);
    EXPECT_EQ(qp->post_send(std::span(&signaled, 1)).error, ENOMEM);
    EXPECT_EQ(a.poll(2).size(), 2u);
    EXPECT_EQ(qp->send_room(), 2u);
  }
}

TEST_F(TwoDevices, ResetLeavesNoCompletionBehind) {
  a.cq->arm(false);
  ASSERT_EQ(write(0, 0, 8, 1).error, 0);
  ASSERT_TRUE(a.ear.wait_for(a.ear.events, 1));
  ASSERT_EQ(qa->modify(QpState::reset, {}), 0);
  WorkCompletion one;
  EXPECT_EQ(a.cq->poll(std::span(&one, 1)), 0);
  EXPECT_EQ(qa->send_room(), 64u);
}

struct ManyQps : TwoDevices {
  std::string story(std::uint64_t work, std::uint32_t done) const {
    const DeviceCounters sent = a.device->counters(), got = b.device->counters();
    std::ostringstream out;
    out << "work " << work << " after " << done << ": " << sent.packets << " packets sent, " << sent.repairs
        << " repairs, " << sent.probes << " probes, " << got.received << " received, " << got.duplicates
        << " twice, refused " << sent.refused << " and " << got.refused << ", overrun " << sent.overrun
        << " and " << got.overrun;
    return out.str();
  }
};

TEST_F(ManyQps, FourThousandInOneProcess) {
  constexpr std::uint32_t kPairs = 2000;
  constexpr std::uint8_t kPatient =
      18;  // 268 ms, and a minute in all: it is about many, not about a busy machine
  std::vector<std::pair<QueuePair*, QueuePair*>> pairs;
  for (std::uint32_t i = 0; i < kPairs; ++i) {
    pairs.emplace_back(a.create(), b.create());
    QpAttributes to_b = attributes(b, pairs[i].second->qpn()), to_a = attributes(a, pairs[i].first->qpn());
    to_b.timeout = to_a.timeout = kPatient;
    raise(pairs[i].first, to_b);
    raise(pairs[i].second, to_a);
  }
  std::vector<bool> seen(kPairs);
  std::uint32_t posted = 0, done = 0;
  while (done < kPairs) {
    for (; posted < kPairs && posted < done + 32; ++posted) {
      const Sge sge{a.va(posted * 64), 64, a.region.lkey};
      SendRequest r{
          .wr_id = posted, .remote_va = b.va(posted * 64), .rkey = b.region.rkey, .sges = std::span(&sge, 1)};
      ASSERT_EQ(pairs[posted].first->post_send(std::span(&r, 1)).error, 0);
    }
    const auto some = a.poll(1);
    ASSERT_FALSE(some.empty());
    for (const WorkCompletion& c : some) {
      ASSERT_EQ(c.status, WorkStatus::success) << story(c.wr_id, done);
      ASSERT_FALSE(seen[c.wr_id]);
      seen[c.wr_id] = true;
      ++done;
    }
  }
  EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data(), kPairs * 64), 0);
}

TEST_F(TwoDevices, ThreadsPostPollAndDestroyAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([this, t] {
      CompletionQueue* cq = *a.device->create_cq(64, nullptr);
      for (int round = 0; round < 20; ++round) {
        QpInit init{.pd = a.pd, .send_cq = cq, .recv_cq = cq, .send_depth = 16, .recv_depth = 16};
        QpInit other{.pd = b.pd, .send_cq = b.cq, .recv_cq = b.cq, .send_depth = 16, .recv_depth = 16};
        QueuePair* x = *a.device->create_qp(init);
        QueuePair* y = *b.device->create_qp(other);
        raise(x, attributes(b, y->qpn()));
        raise(y, attributes(a, x->qpn()));
        const std::size_t place = static_cast<std::size_t>(t) * 100'000;
        const Sge sge{a.va(place), 50'000, a.region.lkey};
        SendRequest r{.remote_va = b.va(place), .rkey = b.region.rkey, .sges = std::span(&sge, 1)};
        for (int i = 0; i < 4; ++i) EXPECT_EQ(x->post_send(std::span(&r, 1)).error, 0);
        WorkCompletion wc[4];
        int got = 0;
        while (got < 2) got += cq->poll(wc);  // two are still under way
        EXPECT_EQ(a.device->destroy_qp(x), 0);
        EXPECT_EQ(b.device->destroy_qp(y), 0);
      }
      EXPECT_EQ(a.device->destroy_cq(cq), 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(write(0, 0, 1000, 7).error, 0);
  EXPECT_EQ(a.poll(1).at(0).status, WorkStatus::success);
}

}  // namespace
}  // namespace mrc::lib::testing
