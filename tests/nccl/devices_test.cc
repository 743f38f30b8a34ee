// A process with several devices, as on a host with many cores: what NCCL is told of them, and their threads.
#include <dirent.h>
#include <gmock/gmock.h>

#include <fstream>

#include "nccl/versions.h"

namespace mrc::nccl::testing {
namespace {

/// Before any plugin starts.
[[maybe_unused]] const int kMany = ::setenv("NCCL_OPENMRC_THREADS", "6", 0);

struct Devices : PluginTest {
  int count() {
    int n = 0;
    EXPECT_EQ(table->devices(&n), kSuccess);
    return n;
  }
};
// No version plays a part.
INSTANTIATE_TEST_SUITE_P(Abi, Devices, ::testing::Values(11), version_name);

// Six threads share a port that does not say how fast it is.
TEST_P(Devices, EachIsFastEnoughForNcclToUseIt) {
  ASSERT_EQ(count(), 3);
  for (int i = 0; i < count(); ++i) {
    Facts facts;
    ASSERT_EQ(table->facts(i, &facts), kSuccess);
    EXPECT_GE(facts.mbps, 1000);
  }
}

/// What the plugin's threads that move data have used of all cores.
std::chrono::nanoseconds time_of_threads() {
  std::chrono::nanoseconds all{0};
  DIR* folder = ::opendir("/proc/self/task");
  while (const dirent* entry = ::readdir(folder)) {
    const std::string task = std::string("/proc/self/task/") + entry->d_name;
    std::string name;
    std::int64_t ns = 0;
    std::ifstream(task + "/comm") >> name;
    if (name == "nccl-openmrc" && std::ifstream(task + "/schedstat") >> ns)
      all += std::chrono::nanoseconds(ns);
  }
  ::closedir(folder);
  return all;
}

// A job whose GPUs compute: NCCL asks for receives on all devices all the time, and nothing comes.
TEST_P(Devices, ThreadsSleepWhileNothingMovesHoweverOftenNcclAsks) {
  using std::chrono::milliseconds;
  ASSERT_EQ(count(), 3);
  std::vector<Ends> ends(6);
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<void*> requests;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    table->choose_device(static_cast<int>(i / 2));
    ASSERT_TRUE(connect_ends(*table, ends[i])) << logged_warnings();
    memory.push_back(std::make_unique<Memory>(*table, ends[i].receiver, 64, 0));
    requests.push_back(post_receive(*table, ends[i].receiver, {memory.back()->buffer(0, 64, 1)}));
  }
  const auto ask = [&] {
    for (void* r : requests) {
      int done = 0;
      EXPECT_EQ(table->test(r, &done, nullptr), kSuccess) << logged_warnings();
    }
    return false;
  };
  drive(ask, milliseconds(50));  // until everything is settled
  const auto before = time_of_threads();
  drive(ask, milliseconds(400));
  EXPECT_LT(time_of_threads() - before, milliseconds(40));
  memory.clear();
  for (Ends& e : ends) close_ends(*table, e);
}

}  // namespace
}  // namespace mrc::nccl::testing
