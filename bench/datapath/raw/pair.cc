#include "pair.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <new>

#include "base/check.h"

namespace mrc::bench {
namespace {

std::uint64_t read_clock(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

pid_t start(int network, Meeting& meeting, const std::function<bool(Meeting&)>& work) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const bool done = ::setns(network, CLONE_NEWNET) == 0 && work(meeting);
  meeting.stop.store(1);
  ::_exit(done ? 0 : 1);
}

bool reap(pid_t pid, std::uint64_t until) {
  for (;;) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == pid) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (now_ns() > until) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return false;
    }
    ::usleep(2000);
  }
}

}  // namespace

std::uint64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
std::uint64_t cpu_ns() { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

void await(const std::atomic<int>& flag) {
  while (flag.load() == 0) ::usleep(500);
}

bool run_pair(const port::testing::Sandbox& sandbox, Meeting& meeting, double limit_seconds,
              const std::function<bool(Meeting&)>& sender, const std::function<bool(Meeting&)>& receiver) {
  const pid_t right = start(sandbox.right_fd(), meeting, receiver);
  const pid_t left = start(sandbox.left_fd(), meeting, sender);
  const std::uint64_t until = now_ns() + static_cast<std::uint64_t>(limit_seconds * 1e9);
  const bool received = reap(right, until);
  meeting.stop.store(1);
  const bool sent = reap(left, until);
  return received && sent;
}

SharedMeeting::SharedMeeting() {
  void* at = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MRC_CHECK(at != MAP_FAILED);
  meeting_ = new (at) Meeting;
}

SharedMeeting::~SharedMeeting() { ::munmap(meeting_, sizeof(Meeting)); }

}  // namespace mrc::bench
