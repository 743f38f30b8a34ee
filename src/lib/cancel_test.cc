// A thread that is cancelled while it polls or posts leaves a device that works.
#include <pthread.h>
#include <unistd.h>

#include <semaphore>
#include <thread>

#include "lib/nic_device_fixture.h"

namespace mrc::lib::testing {
namespace {

struct Polling {
  Side& side;
  QueuePair* qp;
  SendRequest request;
  std::binary_semaphore begun{0};
};

/// Polls and posts until it is cancelled, which it asks for seldom: every system call inside comes first.
void* poll_for_ever(void* argument) {
  auto& polling = *static_cast<Polling*>(argument);
  constexpr int kAtATime = 20'000;
  polling.begun.release();
  for (;;) {
    WorkCompletion some[4];
    for (int i = 0; i < kAtATime; ++i) {
      if (i % 1000 == 0) (void)polling.qp->post_send(std::span(&polling.request, 1));
      (void)polling.side.cq->poll(some);
    }
    ::pthread_testcancel();
  }
}

/// In a process of its own: where a lock stays taken, the alarm ends it.
[[noreturn]] void cancel_again_and_again() {
  ::alarm(60);
  {
    Side a{loopback("a", 1)}, b{loopback("b", 2)};
    QueuePair *qa = a.create(), *qb = b.create();
    raise(qa, attributes(b, qb->qpn()));
    raise(qb, attributes(a, qa->qpn()));
    const Sge sge{a.va(0), 4096, a.region.lkey};
    Polling polling{a, qa, {.remote_va = b.va(0), .rkey = b.region.rkey, .sges = std::span(&sge, 1)}};
    for (int round = 0; round < 30; ++round) {
      pthread_t thread;
      if (::pthread_create(&thread, nullptr, poll_for_ever, &polling) != 0) ::_exit(2);
      polling.begun.acquire();
      ::pthread_cancel(thread);
      void* how = nullptr;
      ::pthread_join(thread, &how);
      if (how != PTHREAD_CANCELED) ::_exit(3);
    }
    constexpr std::uint64_t kLast = 99;
    polling.request.wr_id = kLast;
    while (qa->post_send(std::span(&polling.request, 1)).error != 0) (void)a.poll(1);
    for (std::uint64_t id = 0; id != kLast;) {
      const auto done = a.poll(1);
      if (done.empty()) ::_exit(4);
      id = done[0].wr_id;
    }
  }
  ::_exit(0);
}

TEST(Cancelled, AThreadInPollLeavesADeviceThatWorks) {
  EXPECT_EXIT(cancel_again_and_again(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace mrc::lib::testing
