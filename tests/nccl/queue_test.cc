// A completion queue that fails: libmrc's function for polling is this program's own here, which asks the
// real one until it is told otherwise.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <mrc.h>

#include <atomic>
#include <cerrno>

#include "nccl/connected_test.h"

namespace {

std::atomic<bool> polls_fail{false};

}  // namespace

/// The plugin finds the program's functions before those of the libraries that it is linked with.
extern "C" __attribute__((visibility("default"))) int mrc_poll_cq(mrc_cq* cq, int count, ibv_wc* wc) {
  using Poll = int (*)(mrc_cq*, int, ibv_wc*);
  static const auto real = reinterpret_cast<Poll>(
      ::dlsym(::dlopen("libmrc.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL), "mrc_poll_cq"));
  if (!polls_fail) return real(cq, count, wc);
  errno = EOVERFLOW;
  return -1;
}

namespace mrc::nccl::testing {
namespace {

struct Queue : ConnectedTest {};
// No version plays a part.
INSTANTIATE_TEST_SUITE_P(Abi, Queue, ::testing::Values(11), version_name);

TEST_P(Queue, ItsFailureIsAnErrorOfEachCommThatUsesIt) {
  Memory to(*table, ends.receiver, 8, 0), from(*table, ends.sender, 20'000, 1);
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 8, 1)});
  ASSERT_NE(receive, nullptr);
  polls_fail = true;
  EXPECT_EQ(wait_for(*table, receive, nullptr, std::chrono::seconds(5)), kSystemError);
  EXPECT_THAT(logged_warnings(),
              ::testing::HasSubstr("lost 127.0.0.1: the completion queue on this side has failed: "));
  void* send = nullptr;
  Code code = kSuccess;
  EXPECT_TRUE(drive([&] {
    code = table->send(ends.sender, from.buffer(0, 20'000, 2), &send);  // nobody has a buffer for it
    return code != kSuccess || send != nullptr;
  }));
  EXPECT_EQ(code, kSystemError);
  polls_fail = false;
  close_ends(*table, ends);
  EXPECT_TRUE(connect_ends(*table, ends)) << "others get another queue";
  Memory again(*table, ends.receiver, 8, 0);
  receive = post_receive(*table, ends.receiver, {again.buffer(0, 8, 1)});
  send = post_send(*table, ends.sender, from.buffer(0, 8, 1));
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess) << logged_warnings();
}

}  // namespace
}  // namespace mrc::nccl::testing
