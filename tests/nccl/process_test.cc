// What a process does around the plugin: it forks, its threads work at the same time, it opens and closes all
// day.
#include <arpa/inet.h>
#include <dirent.h>
#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "nccl/connected_test.h"
#include "nccl/handle.h"

namespace mrc::nccl::testing {
namespace {

using ::testing::HasSubstr;

/// Before any plugin starts: until a connection must stand, and how long one is kept that nobody asks for.
[[maybe_unused]] const int kSoon = ::setenv("NCCL_OPENMRC_CONNECT_TIMEOUT_MS", "3000", 0);

struct Process : ConnectedTest {
  bool move(void* sender, void* receiver, std::size_t size) {
    Memory from(*table, sender, size, 5), to(*table, receiver, size, 0);
    void* receive = post_receive(*table, receiver, {to.buffer(0, size, 1)});
    void* send = post_send(*table, sender, from.buffer(0, size, 1), receive);
    return receive != nullptr && send != nullptr && wait_for(*table, send, nullptr) == kSuccess &&
           wait_for(*table, receive, nullptr) == kSuccess && is(to.data(), 5, size);
  }
};
// No version plays a part.
INSTANTIATE_TEST_SUITE_P(Abi, Process, ::testing::Values(11), version_name);

/// Its exit status; -1 when it has not ended in time, and was killed.
int status_of(pid_t child) {
  int status = 0;
  if (drive([&] { return ::waitpid(child, &status, WNOHANG) == child; }, std::chrono::seconds(10)))
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return -1;
}

std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (status >> word && word != "VmRSS:") continue;
  status >> kib;
  return kib;
}

// NCCL connects each rank with many others, and says little to most of them. This test comes first: what
// others have freed would be taken for nothing.
TEST_P(Process, AConnectionThatCarriesNothingTakesLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory is more";
#endif
  constexpr std::size_t kQps = 3, kMostKib = kQps * 330;  // both ends
  std::vector<Ends> many(32);
  const std::size_t before = resident_kib();
  for (Ends& e : many) ASSERT_TRUE(connect_ends(*table, e)) << logged_warnings();
  EXPECT_LT(resident_kib(), before + many.size() * kMostKib);
  for (Ends& e : many) close_ends(*table, e);
}

// A data loader's worker has none of the plugin's threads, and must not wait for them.
TEST_P(Process, AChildThatExitsWaitsForNobody) {
  ASSERT_TRUE(move(ends.sender, ends.receiver, 100'000)) << "so that every thread has been started";
  Ends closed;
  ASSERT_TRUE(connect_ends(*table, closed));
  table->close_send(closed.sender);  // and one lingers
  const pid_t child = ::fork();
  if (child == 0) std::exit(7);
  EXPECT_EQ(status_of(child), 7) << "it hangs";
  EXPECT_TRUE(move(ends.sender, ends.receiver, 100'000)) << "and the parent goes on: " << logged_warnings();
  table->close_receive(closed.receiver);
  table->close_listen(closed.listener);
}

TEST_P(Process, AChildIsToldThatItHasNoDevices) {
  const pid_t child = ::fork();
  if (child == 0) {
    clear_log();
    const bool refused = start_plugin(GetParam()) == nullptr;
    std::_Exit(refused && logged_warnings().find("was forked from one that uses NCCL") != std::string::npos);
  }
  EXPECT_EQ(status_of(child), 1);
}

/// What a process of its own says that has this in its environment and can't start.
std::string refusal(const std::string& environment) {
  const std::string command =
      "env " + environment + " " + peer_path() + " 11 idle-send 2>&1 >/dev/null </dev/null";
  std::string said(4096, '\0');
  FILE* out = ::popen(command.c_str(), "r");
  said.resize(std::fread(said.data(), 1, said.size(), out));
  ::pclose(out);
  return said;
}

TEST(Start, TheLogSaysWhatIsWrongInTheWordsOfWhoeverSetIt) {
  EXPECT_THAT(refusal("NCCL_OPENMRC_DEVICES=lo,nosuch0"),
              ::testing::ContainsRegex("NET/OpenMRC : no MRC device: NCCL_OPENMRC_DEVICES is 'lo,nosuch0'.*"
                                       "there is no interface 'nosuch0'"));
  EXPECT_THAT(refusal("NCCL_OPENMRC_SPRAY_UNIT=65"),
              HasSubstr("NET/OpenMRC : NCCL_OPENMRC_SPRAY_UNIT is '65': it must be a number from 0 to 64"));
  EXPECT_THAT(refusal("MRC_CC=fast"), HasSubstr("NET/OpenMRC : can't open mrc0: MRC_CC: 'fast' is no"));
  EXPECT_THAT(refusal("NCCL_OPENMRC_GID_INDEX=99"), HasSubstr("no address at GID index 99"));
  EXPECT_THAT(refusal("NCCL_OPENMRC_TIMEOUT=5 MRC_CC=fast"), HasSubstr("NCCL_OPENMRC_TIMEOUT is no setting"));
}

// Many systems begin with 1024, which the paths of six devices exceed.
TEST(Start, AsksForTheDescriptorsThatItNeeds) {
  EXPECT_EQ(refusal("NCCL_OPENMRC_THREADS=2 bash -c 'ulimit -Sn 200 && exec \"$0\" \"$@\"'"), "");
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP()
      << "the sanitizer looks at memory through a pipe, and takes it for wrong where none can be had";
#endif
  EXPECT_THAT(refusal("NCCL_OPENMRC_THREADS=2 bash -c 'ulimit -n 60 && exec \"$0\" \"$@\"'"),
              HasSubstr("Too many open files (this process may have 60: raise the hard limit of ulimit -n)"));
}

// Its sender has died before it called: nothing else would tell.
TEST_P(Process, AListenerThatNobodyCallsDoesNotWaitForEver) {
  HandleBytes handle;
  void *listener = nullptr, *receiver = nullptr;
  ASSERT_EQ(table->listen(handle.data(), &listener), kSuccess);
  Code code = kSuccess;
  EXPECT_TRUE(drive([&] { return (code = table->accept(listener, &receiver)) != kSuccess; }));
  EXPECT_EQ(code, kRemoteError);
  EXPECT_THAT(logged_warnings(), HasSubstr("nobody has connected to 127.0.0.1 port "));
  table->close_listen(listener);
}

// A listener whose queue is full answers nobody, as a plane does that carries nothing.
TEST_P(Process, AConnectionStandsInTimeOrFailsHoweverManyPlanesAreDead) {
  HandleBytes bytes;
  void *listener = nullptr, *sender = nullptr;
  ASSERT_EQ(table->listen(bytes.data(), &listener), kSuccess);
  table->close_listen(listener);
  Handle handle;
  std::memcpy(&handle, bytes.data(), sizeof handle);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(handle.tcp_port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int deaf = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(deaf, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(deaf, 0), 0);
  std::array<int, 2> callers;
  for (int& fd : callers) {
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at);
  }
  handle.count = Handle::kAddresses;
  handle.addresses.fill(handle.addresses[0]);
  std::memcpy(bytes.data(), &handle, sizeof handle);
  Code code = kSuccess;
  const auto connect = [&] { return (code = table->connect(bytes.data(), &sender)) != kSuccess; };
  EXPECT_TRUE(drive(connect, std::chrono::seconds(8))) << "3 s are allowed";
  EXPECT_EQ(code, kRemoteError);
  EXPECT_THAT(logged_warnings(), HasSubstr("no connection to 127.0.0.1 port "));
  EXPECT_THAT(logged_warnings(),
              HasSubstr("(NCCL_OPENMRC_CONNECT_TIMEOUT_MS is 3000); none of its addresses"));
  for (const int fd : {deaf, callers[0], callers[1]}) ::close(fd);
}

/// No thread can be started while this lives: none could have a stack.
class NoThreads {
 public:
  NoThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t endless;
    ::pthread_attr_init(&endless);
    ::pthread_attr_setstacksize(&endless, std::size_t{1} << 47);
    ::pthread_setattr_default_np(&endless);
    ::pthread_attr_destroy(&endless);
  }
  ~NoThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST_P(Process, AThreadThatCannotBeStartedIsAnErrorAndNotTheEnd) {
  HandleBytes handle;
  void *listener = nullptr, *sender = nullptr;
  ASSERT_EQ(table->listen(handle.data(), &listener), kSuccess);
  {
    const NoThreads none;
    EXPECT_EQ(table->connect(handle.data(), &sender), kSystemError);
  }
  EXPECT_THAT(logged_warnings(), HasSubstr("no thread can be started ("));
  table->close_listen(listener);
  EXPECT_TRUE(move(ends.sender, ends.receiver, 100'000)) << logged_warnings();
}

int open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  int count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

TEST_P(Process, OpeningAndClosingLeavesNothingBehind) {
  const auto settled = [](int most) { return drive([=] { return open_descriptors() <= most; }); };
  const int before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    Ends more;
    ASSERT_TRUE(connect_ends(*table, more)) << i << logged_warnings();
    ASSERT_TRUE(move(more.sender, more.receiver, 100));
    close_ends(*table, more);
  }
  EXPECT_TRUE(settled(before + 2)) << before << " descriptors became " << open_descriptors();
}

// A communicator that is aborted while it connects never calls again.
TEST_P(Process, AnAttemptThatNobodyAsksForAgainGoes) {
  const int before = open_descriptors();
  for (int i = 0; i < 20; ++i) {
    HandleBytes handle;
    Ends half;
    ASSERT_EQ(table->listen(handle.data(), &half.listener), kSuccess);
    ASSERT_EQ(table->connect(handle.data(), &half.sender), kSuccess);
    ASSERT_EQ(half.sender, nullptr);
    ASSERT_TRUE(drive([&] {
      EXPECT_EQ(table->accept(half.listener, &half.receiver), kSuccess);
      return half.receiver != nullptr || HasFailure();
    }));
    close_ends(*table, half);
  }
  EXPECT_TRUE(drive(
      [&] {
        Ends more;  // whoever comes next sweeps
        EXPECT_TRUE(connect_ends(*table, more));
        close_ends(*table, more);
        return HasFailure() || open_descriptors() <= before + 4;
      },
      std::chrono::seconds(30)))
      << before << " descriptors became " << open_descriptors();
}

// With three queue pairs each they need more than one completion queue.
TEST_P(Process, EachOfManyCommsHearsOfItsOwnMessages) {
  std::vector<Ends> many(48);
  for (Ends& e : many) ASSERT_TRUE(connect_ends(*table, e)) << logged_warnings();
  for (const std::size_t size : {100, 100'000, 100}) {
    for (Ends& e : many) EXPECT_TRUE(move(e.sender, e.receiver, size)) << logged_warnings();
  }
  for (Ends& e : many) close_ends(*table, e);
}

TEST_P(Process, ThreadsWithCommsOfTheirOwnDoNotDisturbEachOther) {
  constexpr int kThreads = 4, kMessages = 60;
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Ends own;
      bool well = connect_ends(*table, own);
      for (int i = 0; well && i < kMessages; ++i)
        well = move(own.sender, own.receiver, std::size_t{1} << (i + t) % 18);
      close_ends(*table, own);
      good += well;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(good, kThreads) << logged_warnings();
}

}  // namespace
}  // namespace mrc::nccl::testing
