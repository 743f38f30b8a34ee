// A plane that dies while two ranks meet on it, in a network namespace with two planes.
#include <gmock/gmock.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "nccl/connected_test.h"
#include "nccl/handle.h"

namespace mrc::nccl::testing {
namespace {

bool shell(const char* command) { return std::system(command) == 0; }

/// Two addresses of this host, of which one can be taken away.
bool make_planes() {
  return ::unshare(CLONE_NEWNET) == 0 && shell("ip link set lo up") &&
         shell("ip link add p0 type veth peer name q0 && ip link set p0 up && ip link set q0 up") &&
         shell("ip link add p1 type veth peer name q1 && ip link set p1 up && ip link set q1 up") &&
         shell("ip addr add 10.78.0.1/24 dev p0 && ip addr add 10.78.1.1/24 dev p1");
}

/// Before any plugin starts.
const bool kPlanes = make_planes();
[[maybe_unused]] const int kDevice = ::setenv("NCCL_OPENMRC_DEVICES", "p0,p1", 0);
[[maybe_unused]] const int kTime = ::setenv("NCCL_OPENMRC_CONNECT_TIMEOUT_MS", "60000", 0);

struct Plane : ::testing::Test {
  void SetUp() override {
    if (!kPlanes) GTEST_SKIP() << "NOT TESTED, no namespaces here";
    table = start_plugin(11);
    ASSERT_NE(table, nullptr) << logged_warnings();
  }
  std::unique_ptr<Table> table;
};

/// A connection stands to that port of the first plane, and its caller has spoken: as /proc has it, of the
/// listening side, with bytes that wait to be read.
bool somebody_has_called(std::uint16_t port) {
  std::ifstream all("/proc/thread-self/net/tcp6");
  char at[64];
  std::snprintf(at, sizeof at, "01004E0A:%04X", port);
  for (std::string line; std::getline(all, line);) {
    const bool ours = line.find(at) < line.find(" 01 ");
    if (ours && line.find(" 00000000:00000000 ") == std::string::npos) return true;
  }
  return false;
}

// Its rank is busy, as at the beginning of a job: the caller has been heard by the kernel alone.
TEST_F(Plane, ThatDiesBeforeTheListenerHasAnsweredIsLeft) {
  HandleBytes bytes;
  Ends ends;
  ASSERT_EQ(table->listen(bytes.data(), &ends.listener), kSuccess);
  Handle handle;
  std::memcpy(&handle, bytes.data(), sizeof handle);
  ASSERT_TRUE(drive([&] {
    EXPECT_EQ(table->connect(bytes.data(), &ends.sender), kSuccess);
    return somebody_has_called(handle.tcp_port) || HasFailure();
  }));
  ASSERT_TRUE(shell("ip addr del 10.78.0.1/24 dev p0"));
  EXPECT_TRUE(drive([&] {
    if (ends.sender == nullptr) {
      EXPECT_EQ(table->connect(bytes.data(), &ends.sender), kSuccess);
    }
    if (ends.receiver == nullptr) {
      EXPECT_EQ(table->accept(ends.listener, &ends.receiver), kSuccess);
    }
    return (ends.sender != nullptr && ends.receiver != nullptr) || HasFailure();
  })) << logged_warnings();
  ASSERT_NE(ends.sender, nullptr);
  Memory from(*table, ends.sender, 100, 5), to(*table, ends.receiver, 100, 0);
  void* receive = post_receive(*table, ends.receiver, {to.buffer(0, 100, 1)});
  ASSERT_NE(post_send(*table, ends.sender, from.buffer(0, 100, 1), receive), nullptr);
  EXPECT_EQ(wait_for(*table, receive, nullptr), kSuccess) << logged_warnings();
  close_ends(*table, ends);
}

}  // namespace
}  // namespace mrc::nccl::testing
