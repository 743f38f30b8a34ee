// A connection that is closed while ACKs are missing.
#include <gtest/gtest.h>

#include <cstdlib>

#include "nccl/completions.h"
#include "nccl/connected_test.h"

namespace mrc::nccl::testing {
namespace {

/// Before any plugin starts: nobody waits for a peer that has not closed.
[[maybe_unused]] const int kAtOnce = ::setenv("NCCL_OPENMRC_LINGER_MS", "0", 0);

struct Farewell : ConnectedTest {};
// No version plays a part.
INSTANTIATE_TEST_SUITE_P(Abi, Farewell, ::testing::Values(11), version_name);

// It is done for NCCL when it is posted; the network may carry nothing just then, and come back.
TEST_P(Farewell, AConnectionStaysUntilWhatItCopiedIsAcknowledged) {
  Memory to(*table, ends.receiver, 16, 0), from(*table, ends.sender, 8, 1);
  void* first = post_receive(*table, ends.receiver, {to.buffer(0, 8, 1)});
  void* second = post_receive(*table, ends.receiver, {to.buffer(8, 8, 1)});
  keep(Kept::acknowledgements);
  ASSERT_NE(post_send(*table, ends.sender, from.buffer(0, 8, 1)), nullptr);
  ASSERT_EQ(wait_for(*table, first, nullptr), kSuccess) << logged_warnings();
  table->close_send(ends.sender);
  ends.sender = nullptr;
  EXPECT_EQ(wait_for(*table, second, nullptr, std::chrono::milliseconds(300)), kInternalError)
      << "it could not be repaired any more: " << logged_warnings();
  keep(Kept::nothing);
  EXPECT_EQ(wait_for(*table, second, nullptr), kRemoteError) << "now it has closed";
}

}  // namespace
}  // namespace mrc::nccl::testing
