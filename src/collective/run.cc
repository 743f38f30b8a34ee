#include "collective/run.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "collective/core_wait.h"

namespace mrc::collective {
namespace {

using Clock = std::chrono::steady_clock;

/// One 8-byte word of every rank, added up everywhere: behind the areas' end, where no operation writes.
class Agreement {
 public:
  Agreement(Mesh& mesh, std::size_t at) : mesh_(mesh), at_(at) {}

  /// Rank 0's word to all.
  Status tell(std::uint64_t& word) {
    std::memcpy(mesh_.memory() + at_, &word, sizeof word);
    for (std::uint32_t r = 1; mesh_.rank() == 0 && r < mesh_.ranks(); ++r) {
      if (auto sent = mesh_.write(r, at_, at_ + 8, 8, kTag); !sent) return sent;
    }
    if (mesh_.rank() != 0) {
      if (auto came = mesh_.wait(0, kTag); !came) return came;
      std::memcpy(&word, mesh_.memory() + at_ + 8, sizeof word);
    }
    return mesh_.barrier();
  }
  /// The sum of all words, at rank 0.
  Status gather(std::uint64_t& word) {
    std::memcpy(mesh_.memory() + at_, &word, sizeof word);
    if (mesh_.rank() != 0) {
      if (auto sent = mesh_.write(0, at_, at_ + 8 + 8 * mesh_.rank(), 8, kTag); !sent) return sent;
    }
    for (std::uint32_t r = 1; mesh_.rank() == 0 && r < mesh_.ranks(); ++r) {
      if (auto came = mesh_.wait(r, kTag); !came) return came;
      std::uint64_t theirs = 0;
      std::memcpy(&theirs, mesh_.memory() + at_ + 8 + 8 * r, sizeof theirs);
      word += theirs;
    }
    return mesh_.barrier();
  }

  /// The sum of all words, everywhere.
  Status add_up(std::uint64_t& word) {
    const Status gathered = gather(word);
    return gathered ? tell(word) : gathered;
  }

 private:
  static constexpr std::uint32_t kTag = Mesh::kTags - 2;
  Mesh& mesh_;
  std::size_t at_;
};

Status checked_run(Mesh& mesh, Operation& operation, std::uint64_t& wrong) {
  operation.fill();
  if (auto ready = mesh.barrier(); !ready) return ready;
  if (auto done = operation.run(); !done) return done;
  wrong += operation.wrong();
  return mesh.barrier();
}

Status timed_runs(Mesh& mesh, Operation& operation, std::uint32_t runs, double& seconds) {
  operation.fill();
  if (auto ready = mesh.barrier(); !ready) return ready;
  const auto began = Clock::now();
  for (std::uint32_t i = 0; i < runs; ++i) {
    if (auto done = operation.run(); !done) return done;
  }
  if (auto settled = mesh.settle(); !settled) return settled;
  if (auto all = mesh.barrier(); !all) return all;
  seconds = std::chrono::duration<double>(Clock::now() - began).count() / runs;
  return Done{};
}

/// As many runs as fit: rank 0 decides, by its own clock.
std::uint64_t runs_within(double seconds, double one) {
  return static_cast<std::uint64_t>(std::clamp(seconds / std::max(one, 1e-7), 1.0, 100'000.0));
}

Status measure(Mesh& mesh, Operation& operation, double seconds, Agreement& agreement, Row& row) {
  if (auto done = checked_run(mesh, operation, row.wrong); !done) return done;
  double one = 0;
  if (auto done = timed_runs(mesh, operation, 2, one); !done) return done;
  std::uint64_t runs = runs_within(seconds, one);
  if (auto told = agreement.tell(runs); !told) return told;
  row.runs = static_cast<std::uint32_t>(runs);
  if (auto done = timed_runs(mesh, operation, row.runs, row.seconds); !done) return done;
  if (auto done = checked_run(mesh, operation, row.wrong); !done) return done;
  return agreement.gather(row.wrong);
}

/// A path that lost something, while neighbours were still finding each other perhaps, or because a process
/// was kept from running, comes back with traffic: where a plane seems to carry nothing on any rank, all of
/// them go on for a while before that counts.
Result<Account> give_more_chances(Mesh& mesh, Agreement& agreement, std::size_t bytes,
                                  const CoreWait& cores) {
  constexpr double kSeconds = 1;
  constexpr int kChances = 3;
  Account account;
  Operation operation(mesh, Kind::ring_all_reduce, bytes);
  for (int chance = 0; chance <= kChances; ++chance) {
    account.lame = mesh.look_at_planes();
    if (auto all = agreement.add_up(account.lame); !all) return all.error();
    if (account.lame == 0) return account;
    if (chance == kChances) break;
    Row row;
    if (auto done = measure(mesh, operation, kSeconds, agreement, row); !done) return done.error();
    if (row.wrong != 0)
      return Error{EIO, std::to_string(row.wrong) + " values were wrong when planes had another chance"};
  }
  account.late = cores.is_late();
  if (auto all = agreement.add_up(account.late); !all) return all.error();
  return account;
}

}  // namespace

Result<Account> run(Mesh& mesh, const Plan& plan, const std::function<void(const Row&)>& tell) {
  const CoreWait cores;
  const std::size_t largest = *std::max_element(plan.sizes.begin(), plan.sizes.end());
  Agreement agreement(mesh, Operation::memory_for(largest, mesh.ranks()));
  for (const Kind kind : plan.kinds) {
    for (const std::size_t size : plan.sizes) {
      Operation operation(mesh, kind, size);
      Row row;
      row.kind = kind;
      row.bytes = operation.bytes();
      if (auto done = measure(mesh, operation, plan.seconds, agreement, row); !done) return done.error();
      row.bus_gbps = static_cast<double>(row.bytes) * bus_factor(kind, mesh.ranks()) * 8e-9 / row.seconds;
      if (mesh.rank() == 0) tell(row);
    }
  }
  return give_more_chances(mesh, agreement, std::min<std::size_t>(largest, 1 << 20), cores);
}

}  // namespace mrc::collective
