// A peer in a process of its own, which ends in every way that processes end.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>

#include "lib/nic_device_fixture.h"

namespace mrc::lib::testing {
namespace {

/// What the two processes tell each other.
struct Hello {
  Qpn qpn;
  std::uint64_t va = 0;
  std::uint32_t rkey = 0;
};

enum class Ending { stay, exit_with_qps };

/// The other process: opens its device, connects, and waits for a word.
[[noreturn]] void be_the_peer(int in, int out, Ending ending) {
  {
    Side side(loopback("b", 2));
    QueuePair* qp = side.create();
    const Hello mine{qp->qpn(), side.va(0), side.region.rkey};
    Hello theirs;
    if (::write(out, &mine, sizeof mine) != sizeof mine ||
        ::read(in, &theirs, sizeof theirs) != sizeof theirs)
      ::_exit(2);
    QpAttributes to = attributes(side, theirs.qpn);
    to.remote_gid = loopback("a", 1).ports[0].address;
    raise(qp, to);
    char word = 'r';
    if (::write(out, &word, 1) != 1) ::_exit(3);
    while (::read(in, &word, 1) == 1 && ending == Ending::stay) continue;
    if (ending == Ending::exit_with_qps)
      std::exit(0);  // no destructor of ours: QPs, thread and sockets are open
  }
  ::_exit(0);
}

class OtherProcess {
 public:
  explicit OtherProcess(Ending ending) {
    EXPECT_EQ(::pipe(down_), 0);
    EXPECT_EQ(::pipe(up_), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(down_[1]);
      ::close(up_[0]);
      be_the_peer(down_[0], up_[1], ending);
    }
    ::close(down_[0]);
    ::close(up_[1]);
  }
  ~OtherProcess() {
    end(SIGKILL);
    ::close(down_[1]);
    ::close(up_[0]);
  }
  Hello hello(const Hello& mine) {
    Hello theirs;
    EXPECT_EQ(::read(up_[0], &theirs, sizeof theirs), static_cast<ssize_t>(sizeof theirs));
    EXPECT_EQ(::write(down_[1], &mine, sizeof mine), static_cast<ssize_t>(sizeof mine));
    return theirs;
  }
  void await_ready() {
    char word = 0;
    EXPECT_EQ(::read(up_[0], &word, 1), 1);
  }
  void say_go() { EXPECT_EQ(::write(down_[1], "g", 1), 1); }
  /// Its wait status.
  int end(int signal) {
    if (pid_ <= 0) return 0;
    if (signal != 0) ::kill(pid_, signal);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

 private:
  int down_[2] = {-1, -1}, up_[2] = {-1, -1};
  pid_t pid_ = -1;
};

class PeerProcess : public ::testing::Test {
 protected:
  /// Forked before this process has a device or a thread.
  void connect(Ending ending) {
    peer = std::make_unique<OtherProcess>(ending);
    side = std::make_unique<Side>(loopback("a", 1));
    qp = side->create();
    theirs = peer->hello({qp->qpn(), side->va(0), side->region.rkey});
    QpAttributes to = attributes(*side, theirs.qpn);
    to.remote_gid = loopback("b", 2).ports[0].address;
    to.timeout = kTimeout;
    to.linear_retries = kRetries;
    to.exponential_retries = 0;
    raise(qp, to);
    peer->await_ready();
  }
  void post(std::uint64_t id) {
    const Sge sge{side->va(0), 1 << 20, side->region.lkey};
    SendRequest r{.wr_id = id, .remote_va = theirs.va, .rkey = theirs.rkey, .sges = std::span(&sge, 1)};
    ASSERT_EQ(qp->post_send(std::span(&r, 1)).error, 0);
  }
  /// Many pieces of work are outstanding and some are done when the peer ends as `end` says. Where that takes
  /// longer than all the work, two more find nobody there.
  void lose_the_peer(const std::function<void()>& end) {
    for (std::uint64_t id = 0; id < 64; ++id) post(id);
    std::map<std::uint64_t, WorkStatus> seen;
    const auto note = [&](const std::vector<WorkCompletion>& some) {
      for (const WorkCompletion& c : some) EXPECT_TRUE(seen.emplace(c.wr_id, c.status).second) << "twice";
    };
    note(side->poll(2));
    const Time before = steady_now();  // ending it may take as long as all retries, on a busy machine
    end();
    for (std::uint64_t id = 64; id < kAll; ++id) post(id);
    note(side->poll(kAll - 2));
    const Duration took = steady_now() - before;
    ASSERT_EQ(seen.size(), kAll);
    std::map<WorkStatus, int> count;
    for (const auto& [id, status] : seen) ++count[status];
    EXPECT_EQ(count[WorkStatus::retry_exceeded], 1);
    EXPECT_EQ(count[WorkStatus::success] + count[WorkStatus::retry_exceeded] + count[WorkStatus::flushed],
              static_cast<int>(kAll));
    EXPECT_GE(count[WorkStatus::flushed], 1);
    // Not at once. Of the kRetries, a busy machine may have spent all but the last before the peer ended.
    EXPECT_GE(took, Duration(1024 << kTimeout) / 2);
    WorkCompletion wc;
    EXPECT_EQ(side->cq->poll(std::span(&wc, 1)), 0);
    EXPECT_EQ(qp->state(), QpState::error);
  }

  static constexpr std::size_t kAll = 66;
  static constexpr std::uint8_t kTimeout = 14, kRetries = 4;  // 16.8 ms each
  std::unique_ptr<OtherProcess> peer;
  std::unique_ptr<Side> side;
  QueuePair* qp = nullptr;
  Hello theirs;
};

// MRC-API-026
TEST_F(PeerProcess, KilledInMidTransfer) {
  connect(Ending::stay);
  lose_the_peer([&] { EXPECT_TRUE(WIFSIGNALED(peer->end(SIGKILL))); });
}

// MRC-API-026
TEST_F(PeerProcess, ExitsWithItsQpsOpen) {
  connect(Ending::exit_with_qps);
  lose_the_peer([&] {
    peer->say_go();
    const int status = peer->end(0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  });
}

// MRC-PORT-001: and the address is free for the next one at once.
TEST_F(PeerProcess, AnotherTakesThePlaceOfAKilledOne) {
  connect(Ending::stay);
  post(0);
  EXPECT_EQ(side->poll(1).at(0).status, WorkStatus::success);
  peer->end(SIGKILL);
  Side next(loopback("b", 2));
  QueuePair* there = next.create();
  QueuePair* here = side->create();
  raise(here, attributes(next, there->qpn()));
  raise(there, attributes(*side, here->qpn()));
  const Sge sge{side->va(0), 5000, side->region.lkey};
  SendRequest r{.wr_id = 1, .remote_va = next.va(0), .rkey = next.region.rkey, .sges = std::span(&sge, 1)};
  ASSERT_EQ(here->post_send(std::span(&r, 1)).error, 0);
  EXPECT_EQ(side->poll(1).at(0).status, WorkStatus::success);
}

// Whichever descriptor it is that a process has no more room for.
TEST(Descriptors, ADeviceThatFindsNoneIsAnErrorAndNoMore) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer looks at memory through a pipe, and takes it for wrong where none can be had";
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    bool opened = false;
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    for (rlim_t most = 4; most < 1000 && !opened; ++most) {
      limit.rlim_cur = most;
      if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::_exit(3);
      const auto device = NicDevice::open(loopback("c", 3), settings());
      opened = static_cast<bool>(device);
      if (!opened && device.error().code != EMFILE) ::_exit(2);
    }
    ::_exit(opened ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// Makes or changes things until there is no memory for one more: 0 when it was told so, and not ended.
template <class Step>
int until_refused(Step step) {
  for (int i = 0; i < 100'000; ++i)
    if (const int error = step(); error != 0) return error == ENOMEM ? 0 : 1;
  return 2;
}

int live_with_little_memory() {
  Side side(loopback("c", 3));
  rlimit limit{};
  std::ifstream("/proc/self/statm") >> limit.rlim_max;  // pages that it has now
  limit.rlim_cur = limit.rlim_max = limit.rlim_max * static_cast<rlim_t>(::getpagesize()) + (64 << 20);
  if (::setrlimit(RLIMIT_AS, &limit) != 0) return 3;
  const QpInit deep{.pd = side.pd, .send_cq = side.cq, .recv_cq = side.cq, .send_depth = 16384};
  int wrong = until_refused([&] {
    const auto made = side.device->create_qp(deep);
    if (made) side.qps.push_back(*made);
    return made ? 0 : made.error().code;
  });
  std::size_t next = 0;  // connecting takes memory as well
  wrong |= until_refused([&] {
    QueuePair* qp = side.qps.at(next++);
    const QpAttributes itself = attributes(side, qp->qpn());
    const int error = qp->modify(QpState::init, itself);
    return error != 0 ? error : qp->modify(QpState::rtr, itself);
  });
  if (side.qps.at(next - 1)->state() != QpState::init) wrong |= 4;
  std::vector<CompletionQueue*> cqs;
  wrong |= until_refused([&] {
    const auto made = side.device->create_cq(1 << 20, nullptr);
    if (made) cqs.push_back(*made);
    return made ? 0 : made.error().code;
  });
  for (CompletionQueue* cq : cqs) side.device->destroy_cq(cq);
  return wrong;
}

// Our callers are C's: an exception would end them.
TEST(Memory, ThatIsShortIsAnErrorAndNoMore) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory is beyond every limit";
#endif
  const pid_t child = ::fork();
  if (child == 0) ::_exit(live_with_little_memory());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mrc::lib::testing
