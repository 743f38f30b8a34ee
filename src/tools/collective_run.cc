// One rank of `mrc collective`, what rank 0 prints, and a process for each on this host.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/json.h"
#include "tools/collective.h"
#include "tools/waiting_line.h"

namespace mrc::tools {
namespace {

void print(const collective::Row& row, std::uint32_t ranks, bool json) {
  if (!json) {
    std::printf("%-16s %12zu %8u %12.1f %10.3f %8llu\n", collective::name_of(row.kind), row.bytes, row.runs,
                row.seconds * 1e6, row.bus_gbps, static_cast<unsigned long long>(row.wrong));
  } else {
    JsonWriter out;
    out.begin_object()
        .field("operation", collective::name_of(row.kind))
        .field("ranks", ranks)
        .field("bytes", row.bytes);
    out.field("runs", row.runs)
        .field("us", row.seconds * 1e6)
        .field("busbw_gbps", row.bus_gbps)
        .field("wrong", row.wrong);
    std::printf("%s\n", out.end_object().text().c_str());
  }
  std::fflush(stdout);
}

void print(std::uint32_t rank, const collective::Mesh::LamePeer& peer, const collective::Account& account) {
  JsonWriter out;
  out.begin_object().field("rank", rank).field("lame_peer", peer.rank).field("planes", peer.planes);
  std::printf("%s\n", out.field("late_ranks", account.late).end_object().text().c_str());
}

/// Each rank of its own peers.
void tell_of_planes(const std::vector<collective::Mesh::LamePeer>& lame, const collective::Account& account,
                    const CollectiveJob& job) {
  const std::uint32_t rank = job.mesh.rank;
  const std::string maybe = account.late == 0
                                ? ""
                                : "; but " + std::to_string(account.late) + " of " +
                                      std::to_string(job.mesh.addresses.size()) +
                                      " ranks had to wait for a core, and may only have been late";
  for (const auto& peer : lame) {
    std::fprintf(stderr, "mrc collective: rank %u reaches not every plane of %s: %s%s\n", rank,
                 peer.name.c_str(), peer.planes.c_str(), maybe.c_str());
    if (job.json) print(rank, peer, account);
  }
  if (lame.empty() && account.lame > 0 && job.all_planes)
    std::fprintf(stderr, "mrc collective: rank %u: other ranks don't reach each other on every plane\n",
                 rank);
}

/// Ranks with different plans would wait for each other.
std::uint64_t fingerprint(const collective::Plan& plan) {
  constexpr std::uint64_t kPrime = 0x100'0000'01B3;  // FNV
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
  for (const collective::Kind kind : plan.kinds) hash = (hash ^ static_cast<std::uint64_t>(kind)) * kPrime;
  for (const std::size_t size : plan.sizes) hash = (hash ^ (size + 16)) * kPrime;
  return hash;
}

int child(CollectiveJob job, std::uint32_t rank) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  job.mesh.rank = rank;
  const auto done = collective_rank(job);
  if (!done) std::fprintf(stderr, "mrc collective: rank %u: %s\n", rank, done.error().what.c_str());
  std::fflush(stdout);
  std::fflush(stderr);
  return done ? *done : 1;
}

std::size_t rank_of(const std::vector<pid_t>& started, pid_t pid) {
  return static_cast<std::size_t>(std::find(started.begin(), started.end(), pid) - started.begin());
}
void tell_of_death(std::size_t rank, int signal) {
  std::fprintf(stderr, "mrc collective: rank %zu ended by signal %d (%s)\n", rank, signal,
               ::strsignal(signal));
}

Result<std::unique_ptr<collective::Mesh>> join(const collective::MeshOptions& mesh) {
  const WaitingLine waiting("mrc collective: rank " + std::to_string(mesh.rank) + " waits up to " +
                            std::to_string(mesh.timeout_ms / 1000) +
                            " s (--wait) for the others: are all of them started, with the same --peers?");
  return collective::Mesh::join(mesh);
}

}  // namespace

Result<int> collective_rank(CollectiveJob job) {
  std::size_t largest = 0;
  for (const std::size_t size : job.plan.sizes) largest = std::max(largest, size);
  const auto ranks = static_cast<std::uint32_t>(job.mesh.addresses.size());
  job.mesh.bytes = collective::Operation::memory_for(largest, ranks) + 8 * (ranks + 2);
  job.mesh.plan = fingerprint(job.plan);
  auto mesh = join(job.mesh);
  if (!mesh) return mesh.error();
  if (job.mesh.rank == 0 && !job.json) {
    std::printf("%u ranks\n%-16s %12s %8s %12s %10s %8s\n", ranks, "operation", "bytes", "runs", "us",
                "bus Gb/s", "wrong");
    std::fflush(stdout);
  }
  std::uint64_t wrong = 0;
  const auto done = collective::run(**mesh, job.plan, [&](const collective::Row& row) {
    wrong += row.wrong;
    print(row, ranks, job.json);
  });
  if (!done) return done.error();
  tell_of_planes((*mesh)->lame(), *done, job);
  return wrong == 0 && (done->lame == 0 || !job.all_planes) ? 0 : 1;
}

int collective_on_this_host(const CollectiveJob& job) {
  std::fflush(stdout);
  std::vector<pid_t> started;
  for (std::uint32_t rank = 0; rank < job.mesh.addresses.size(); ++rank) {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(child(job, rank));
    if (pid > 0) started.push_back(pid);
  }
  int status = started.size() == job.mesh.addresses.size() ? 0 : 1;
  for (std::size_t left = started.size(); left > 0; --left) {
    int ended = 0;
    const pid_t pid = ::wait(&ended);
    const bool well = pid > 0 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
    if (!well && status == 0) {
      if (pid > 0 && WIFSIGNALED(ended)) tell_of_death(rank_of(started, pid), WTERMSIG(ended));
      for (const pid_t other : started) ::kill(other, SIGTERM);  // the others would wait for it in vain
    }
    status |= well ? 0 : 1;
  }
  return status;
}

}  // namespace mrc::tools
