// `mrc collective` between processes over loopback: every value compared.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "tools/run_mrc.h"

namespace mrc::tools {
namespace {

using testing::Outcome;
using testing::run_mrc;

struct Collective : ::testing::Test {
  Collective() {
    ::setenv("MRC_UDP_PORT", "14819", 1);
    ::unsetenv("MRC_DEVICES");
  }
  ~Collective() override { ::unsetenv("MRC_UDP_PORT"); }
};

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST_F(Collective, TwoRanksAgreeOnOddAndEvenSizes) {
  const Outcome o = run_mrc({"collective", "--ranks", "2", "--port", "18700", "--sizes", "0,8,4100,300001,1M",
                             "--seconds", "0.01", "--json"});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  EXPECT_EQ(count(o.out, "\"wrong\":0"), 15) << o.out;
  EXPECT_EQ(count(o.out, "\"operation\":\"tree_all_reduce\",\"ranks\":2"), 5) << o.out;
}

TEST_F(Collective, FourRanksAndATable) {
  const Outcome o = run_mrc(
      {"collective", "--ranks", "4", "--port", "18710", "--sizes", "12,64K,999999", "--seconds", "0.01"});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  EXPECT_NE(o.out.find("4 ranks\noperation"), std::string::npos) << o.out;
  EXPECT_EQ(count(o.out, "ring_all_reduce"), 3) << o.out;
  EXPECT_EQ(count(o.out, "all_to_all"), 3) << o.out;
}

TEST_F(Collective, AnOddNumberOfRanks) {
  const Outcome o = run_mrc(
      {"collective", "--ranks", "3", "--port", "18720", "--sizes", "100K", "--seconds", "0.01", "--json"});
  EXPECT_EQ(o.status, 0) << o.err << o.out;
  EXPECT_EQ(count(o.out, "\"wrong\":0"), 3) << o.out;
}

std::int64_t most_resident_kib(int whose) {
  rusage usage{};
  ::getrusage(whose, &usage);
  return usage.ru_maxrss;
}

TEST_F(Collective, MemoryThatNoOperationTouchesCostsNothing) {
  const std::int64_t before = std::max(most_resident_kib(RUSAGE_SELF), most_resident_kib(RUSAGE_CHILDREN));
  const Outcome o = run_mrc({"collective", "--ranks", "2", "--port", "18760", "--kinds", "ring", "--sizes",
                             "64M", "--seconds", "0"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_LT(most_resident_kib(RUSAGE_CHILDREN), before + 3 * (64 << 10))
      << "the buffer, and half as much twice";
}

void expect_refusal(const std::vector<std::string>& options, const std::string& sentence) {
  std::vector<std::string> words{"collective"};
  words.insert(words.end(), options.begin(), options.end());
  const Outcome o = run_mrc(words);
  EXPECT_NE(o.status, 0) << sentence;
  EXPECT_NE(o.err.find(sentence), std::string::npos) << o.err;
}

TEST_F(Collective, NonsenseIsRefusedWithASentence) {
  expect_refusal({"--peers", "10.0.0.1,10.0.0.2"}, "--rank N, 0 to 1");
  expect_refusal({"--ranks", "33"}, "not in range 1 to 32");
  EXPECT_EQ(run_mrc({"collective", "--sizes", "big"}).status, 2);
  expect_refusal({"--sizes", "2G"}, "at most 1 GiB");
  expect_refusal({"--sizes", "-5"}, "--sizes: '-5' is no size");
  expect_refusal({"--sizes", "8,big"}, "--sizes: 'big' is no size");
  expect_refusal({"--rank", "1"}, "--rank requires --peers");
  expect_refusal({"--ranks", "2", "--peers", "127.0.0.1,127.0.0.1"}, "excludes");
  expect_refusal({"--port", "65535"}, "there is no port 65536");
  expect_refusal({"--device", "nosuch0"}, "no MRC device: MRC_DEVICES: there is no interface 'nosuch0'");
}

TEST_F(Collective, ALauncherOfSeveralProcessesIsHeard) {
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  expect_refusal({"--ranks", "2"}, "the launcher says how many");
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  expect_refusal({}, "on several hosts");
  expect_refusal({"--peers", "127.0.0.1,127.0.0.1"}, "the launcher has started 4 ranks, and --peers names 2");
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"})
    ::unsetenv(name);
}

TEST_F(Collective, SrunOnSeveralHostsIsHeard) {
  const std::vector<std::pair<const char*, const char*>> step{
      {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_STEP_NUM_NODES", "2"}};
  for (const auto& [name, value] : step) ::setenv(name, value, 1);
  expect_refusal({"--wait", "0.1"}, "on several hosts");
  for (const auto& [name, value] : step) ::unsetenv(name);
}

TEST_F(Collective, AWrongRankIsToldFromAPortInUse) {
  expect_refusal({"--peers", "127.0.0.1,192.0.2.1", "--rank", "1", "--device", "lo/127.0.0.1"},
                 "rank 1: listen at 192.0.2.1 TCP port 18601: Cannot assign requested address (this host has "
                 "no such address: is --rank right?)");
}

/// The ranks of a job, each a process with options of its own, started after one another once `between` is
/// done. 0 when all ended well, and what they said.
Outcome run_ranks(
    const std::string& port, const std::vector<std::vector<std::string>>& options,
    const std::function<void()>& between = [] {}) {
  std::vector<pid_t> started;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  for (std::size_t rank = 0; rank < options.size(); ++rank) {
    if (rank > 0) between();
    const pid_t child = ::fork();
    started.push_back(child);
    if (child != 0) continue;
    std::vector<std::string> words{"mrc",    "collective", "--device", "lo/127.0.0.1",
                                   "--port", port,         "--peers"};
    words.push_back("127.0.0.1");
    for (std::size_t i = 1; i < options.size(); ++i) words.back() += ",127.0.0.1";
    words.insert(words.end(), {"--rank", std::to_string(rank)});
    words.insert(words.end(), options[rank].begin(), options[rank].end());
    std::vector<const char*> argv;
    for (const std::string& w : words) argv.push_back(w.c_str());
    const int status = run_command(static_cast<int>(argv.size()), argv.data());
    std::fflush(stdout);
    ::_exit(status);
  }
  int worst = 0;
  for (const pid_t pid : started) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    worst = std::max(worst, status);
  }
  return {worst, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

TEST_F(Collective, RanksWithDifferentPlansSayItAtOnce) {
  const Outcome o =
      run_ranks("18730", {{"--kinds", "ring", "--sizes", "8"}, {"--kinds", "tree", "--sizes", "8"}});
  EXPECT_NE(o.status, 0);
  EXPECT_NE(o.err.find("give all ranks the same --peers, --kinds, --sizes"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("rank 0: rank 1 at 127.0.0.1 does something else"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("rank 1: rank 0 at 127.0.0.1 does something else"), std::string::npos) << o.err;
}

TEST_F(Collective, WhoeverKnocksIsNoRank) {
  std::vector<int> strangers;
  const auto knock = [&] {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(18740);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int tries = 0; tries < 5000 && strangers.size() < 2; ++tries) {
      const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const bool in = ::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
      if (in && strangers.empty()) {
        EXPECT_EQ(::send(fd, "GET / HTTP/1.1", 14, MSG_NOSIGNAL), 14);
      }
      in ? strangers.push_back(fd) : static_cast<void>(::close(fd));  // the second one says nothing
      if (!in) ::usleep(1000);
    }
  };
  const std::vector<std::string> options{"--sizes", "8", "--seconds", "0.01"};
  const Outcome o = run_ranks("18740", {options, options}, knock);
  EXPECT_EQ(strangers.size(), 2u);
  EXPECT_EQ(o.status, 0) << o.err;
  for (const int fd : strangers) ::close(fd);
}

TEST_F(Collective, ARankThatIsKilledIsNamed) {
  std::thread killer([parent = ::getpid()] {
    const std::string list =
        "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
    for (int tries = 0; tries < 5000; ++tries, ::usleep(1000)) {
      std::ifstream children(list);
      pid_t first = 0, second = 0;
      if (!(children >> first >> second)) continue;
      ::kill(second, SIGKILL);
      return;
    }
  });
  const Outcome o =
      run_mrc({"collective", "--ranks", "2", "--port", "18750", "--sizes", "8", "--seconds", "5"});
  killer.join();
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("rank 1 ended by signal 9 (Killed)"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace mrc::tools
