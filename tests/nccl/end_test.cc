// How things end: closing with requests outstanding, a peer that closes, dies, or falls silent.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "nccl/versions.h"

namespace mrc::nccl::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
/// Before any plugin starts: how long a peer may be silent.
[[maybe_unused]] const int kSoon = ::setenv("NCCL_OPENMRC_TIMEOUT_MS", "1000", 0);
constexpr auto kTimeoutAndMore = milliseconds(6000);  // machines are busy
/// A process takes seconds to start where other tests make and remove namespaces.
[[maybe_unused]] const int kPatient = ::setenv("NCCL_OPENMRC_CONNECT_TIMEOUT_MS", "40000", 0);

/// A process of peer.cc, killed at the end.
class Peer {
 public:
  Peer(int version, const char* mode) {
    int in[2], out[2];
    if (::pipe(in) != 0 || ::pipe(out) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      for (const int fd : {in[0], in[1], out[0], out[1]}) ::close(fd);
      ::execl(peer_path(), peer_path(), std::to_string(version).c_str(), mode, nullptr);
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  ~Peer() {
    signal(SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    ::close(to_);
    ::close(from_);
  }
  void give(const HandleBytes& handle) { EXPECT_EQ(::write(to_, handle.data(), handle.size()), 128); }
  HandleBytes take() {
    HandleBytes handle{};
    for (std::size_t at = 0; at < handle.size();) {
      const ssize_t n = ::read(from_, handle.data() + at, handle.size() - at);
      if (n <= 0) return ADD_FAILURE() << "the peer did not start", handle;
      at += static_cast<std::size_t>(n);
    }
    return handle;
  }
  void begin() { EXPECT_EQ(::write(to_, "!", 1), 1); }
  void wait_until_connected() {
    char byte;
    EXPECT_EQ(::read(from_, &byte, 1), 1);
  }
  void signal(int which) {
    if (pid_ > 0) ::kill(pid_, which);
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

struct End : PluginTest {
  /// Connected to a process: we receive from one that sends, and the other way round.
  void* meet(Peer& peer, bool we_send) {
    HandleBytes handle;
    void* comm = nullptr;
    if (we_send) {
      handle = peer.take();
    } else {
      EXPECT_EQ(table->listen(handle.data(), &listener), kSuccess);
      peer.give(handle);
    }
    EXPECT_TRUE(drive([&] {
      const Code code = we_send ? table->connect(handle.data(), &comm) : table->accept(listener, &comm);
      return comm != nullptr || code != kSuccess;
    }));
    if (comm != nullptr) peer.wait_until_connected();
    return comm;
  }
  /// Moves messages until the plugin reports an error; that error.
  Code run_until_error(void* comm, bool we_send) {
    Memory memory(*table, comm, 100'000, 1);
    Code code = kSuccess;
    void* request = nullptr;
    const bool ended = drive(
        [&] {
          int done = 0;
          if (request != nullptr)
            code = table->test(request, &done, nullptr);
          else if (we_send)
            code = table->send(comm, memory.buffer(0, 100'000, 1), &request);
          else
            code = table->receive(comm, {memory.buffer(0, 100'000, 1)}, &request);
          if (done != 0) request = nullptr;
          return code != kSuccess;
        },
        kTimeoutAndMore);
    EXPECT_TRUE(ended) << "it hangs";
    return code;
  }
  /// A few messages, so that death comes in the middle of something.
  void move_some(void* comm, bool we_send) {
    Memory memory(*table, comm, 100'000, 1);
    for (int i = 0; i < 5; ++i) {
      void* request = we_send ? post_send(*table, comm, memory.buffer(0, 100'000, 1))
                              : post_receive(*table, comm, {memory.buffer(0, 100'000, 1)});
      ASSERT_NE(request, nullptr) << logged_warnings();
      ASSERT_EQ(wait_for(*table, request, nullptr), kSuccess);
    }
  }
  void close(void* comm, bool we_send) {
    we_send ? table->close_send(comm) : table->close_receive(comm);
    if (listener != nullptr) table->close_listen(listener);
  }
  void* listener = nullptr;
};
MRC_ALL_VERSIONS(End);

TEST_P(End, ClosedWithRequestsOutstanding) {
  Ends ends;
  ASSERT_TRUE(connect_ends(*table, ends));
  {
    Memory from(*table, ends.sender, 4 << 20, 3), to(*table, ends.receiver, 4 << 20, 0);
    std::vector<void*> requests;
    for (int i = 0; i < 4; ++i)
      requests.push_back(post_receive(*table, ends.receiver, {to.buffer(i << 20, 1 << 20, i)}));
    for (int i = 0; i < 2; ++i)
      requests.push_back(post_send(*table, ends.sender, from.buffer(i << 20, 1 << 20, i)));
    for (void* r : requests) EXPECT_NE(r, nullptr);
  }  // memory goes first, as NCCL does it
  close_ends(*table, ends);
  EXPECT_TRUE(connect_ends(*table, ends)) << "and life goes on";
  close_ends(*table, ends);
}

TEST_P(End, WhatWasSentBeforeTheSenderClosedStillArrives) {
  Ends ends;
  ASSERT_TRUE(connect_ends(*table, ends));
  Memory from(*table, ends.sender, 100'000, 3), to(*table, ends.receiver, 200'000, 0);
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 100'000, 0)});
  void* late = post_receive(*table, ends.receiver, {to.buffer(100'000, 100'000, 0)});
  void* send = post_send(*table, ends.sender, from.buffer(0, 100'000, 0));
  EXPECT_EQ(wait_for(*table, send, nullptr), kSuccess);
  EXPECT_EQ(table->close_send(ends.sender), kSuccess);
  ends.sender = nullptr;
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess);
  EXPECT_EQ(to.data()[99'999], Memory::expected(3, 99'999));
  EXPECT_EQ(wait_for(*table, late, nullptr), kRemoteError) << "nobody will ever fill that one";
  EXPECT_THAT(logged_warnings(),
              HasSubstr("lost 127.0.0.1: it closed the connection or died; planes: lo up"));
  close_ends(*table, ends);
}

TEST_P(End, AShortMessageOutlivesItsSender) {
  Ends ends;
  ASSERT_TRUE(connect_ends(*table, ends));
  Memory from(*table, ends.sender, 8, 3), to(*table, ends.receiver, 8, 0);
  void* send = post_send(*table, ends.sender, from.buffer(0, 8, 0));
  int done = 0;
  EXPECT_EQ(table->test(send, &done, nullptr), kSuccess);
  EXPECT_EQ(done, 1) << "it was copied";
  EXPECT_EQ(table->close_send(ends.sender), kSuccess);
  ends.sender = nullptr;
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 8, 0)});
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess) << logged_warnings();
  EXPECT_EQ(to.data()[7], Memory::expected(3, 7));
  close_ends(*table, ends);
}

TEST_P(End, TheSenderDies) {
  Peer peer(GetParam(), "send");
  void* comm = meet(peer, false);
  ASSERT_NE(comm, nullptr);
  move_some(comm, false);
  peer.signal(SIGKILL);
  EXPECT_EQ(run_until_error(comm, false), kRemoteError);
  EXPECT_THAT(logged_warnings(), HasSubstr("lost 127.0.0.1: "));
  close(comm, false);
}

TEST_P(End, TheReceiverDies) {
  Peer peer(GetParam(), "receive");
  void* comm = meet(peer, true);
  ASSERT_NE(comm, nullptr);
  move_some(comm, true);
  peer.signal(SIGKILL);
  EXPECT_EQ(run_until_error(comm, true), kRemoteError);
  EXPECT_THAT(logged_warnings(), HasSubstr("lost 127.0.0.1: "));
  close(comm, true);
}

// One rank writes a checkpoint: its NCCL asks for nothing, for much longer than a peer may be silent, while
// the others wait for it and ask all the time.
TEST_P(End, APeerThatIsBusyElsewhereIsNotLost) {
  if (GetParam() != 11) return;  // it takes a while, and no version plays a part
  for (const bool we_send : {true, false}) {
    Peer peer(GetParam(), we_send ? "idle-receive" : "idle-send");
    void* comm = meet(peer, we_send);
    ASSERT_NE(comm, nullptr);
    Memory memory(*table, comm, 100'000, 1);
    void* request = nullptr;
    int done = 0;
    Code code = kSuccess;
    const auto ask = [&] {
      code = request != nullptr ? table->test(request, &done, nullptr)
             : we_send          ? table->send(comm, memory.buffer(0, 100'000, 1), &request)
                                : table->receive(comm, {memory.buffer(0, 100'000, 1)}, &request);
      return code != kSuccess || done != 0;
    };
    EXPECT_FALSE(drive(ask, milliseconds(we_send ? 4000 : 1500))) << logged_warnings();
    peer.begin();
    EXPECT_TRUE(drive(ask)) << "it has begun";
    EXPECT_EQ(code, kSuccess) << logged_warnings();
    close(comm, we_send);
    listener = nullptr;
  }
}

TEST_P(End, NothingIsSentToAPeerThatIsLost) {
  Ends ends;
  ASSERT_TRUE(connect_ends(*table, ends));
  Memory from(*table, ends.sender, 100'000, 3), to(*table, ends.receiver, 100'000, 0);
  void* first = post_receive(*table, ends.receiver, {to.buffer(0, 50'000, 0)});
  void* second = post_receive(*table, ends.receiver, {to.buffer(50'000, 100, 1)});
  ASSERT_NE(second, nullptr);
  void* send = post_send(*table, ends.sender, from.buffer(0, 50'000, 0), first);
  ASSERT_EQ(wait_for(*table, send, nullptr), kSuccess);
  EXPECT_EQ(table->close_receive(ends.receiver), kSuccess);
  ends.receiver = nullptr;
  void* request = nullptr;
  Code code = kSuccess;
  EXPECT_TRUE(
      drive([&] { return (code = table->send(ends.sender, from.buffer(0, 50'000, 9), &request)) != 0; }));
  EXPECT_EQ(code, kRemoteError) << "there is no buffer for that";
  EXPECT_EQ(table->send(ends.sender, from.buffer(0, 100, 1), &request), kRemoteError) << "here was one";
  EXPECT_EQ(request, nullptr);
  close_ends(*table, ends);
}

// A stopped process stands for a network that carries nothing any more: no packet is answered, no connection
// closes.
TEST_P(End, ASilentPeerIsAnErrorInTime) {
  for (const bool we_send : {false, true}) {
    clear_log();
    Peer peer(GetParam(), we_send ? "idle-receive" : "idle-send");
    void* comm = meet(peer, we_send);
    ASSERT_NE(comm, nullptr);
    peer.signal(SIGSTOP);
    EXPECT_EQ(run_until_error(comm, we_send), kRemoteError);
    EXPECT_THAT(logged_warnings(), HasSubstr("lost 127.0.0.1: no answer on any path for 1000 ms"));
    EXPECT_THAT(logged_warnings(), HasSubstr("; planes: lo up, 0 of "));
    close(comm, we_send);
    listener = nullptr;
  }
}

}  // namespace
}  // namespace mrc::nccl::testing
