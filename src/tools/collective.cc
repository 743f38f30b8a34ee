// `mrc collective`: collectives between processes or hosts, as a demonstration and as an acceptance test of a
// cluster.
#include "tools/collective.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/size.h"
#include "tools/commands.h"
#include "tools/real_range.h"

namespace mrc::tools {
namespace {

constexpr std::uint32_t kSprayUnit = 8;

struct Options {
  std::uint32_t ranks = 0;
  int rank = -1;
  std::vector<std::string> peers, kinds{"ring", "tree", "alltoall"};
  std::vector<std::string> sizes{"8", "64K", "1M", "16M"};
  std::string device;
  std::uint16_t port = 18600;
  std::optional<std::uint32_t> spray_unit;
  double seconds = 0.3, wait = 30;
  bool json = false, all_planes = false;
};

int complain(const std::string& what) {
  std::fprintf(stderr, "mrc collective: %s\n", what.c_str());
  return 1;
}

int refuse(const std::string& what) { return complain(what), kUsageError; }

/// What mpirun, srun and their kin tell each process.
int number_from(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name); text != nullptr) return std::atoi(text);
  }
  return -1;
}

Result<collective::Plan> make_plan(const Options& o) {
  collective::Plan plan;
  plan.seconds = o.seconds;
  for (const std::string& word : o.kinds) {
    plan.kinds.push_back(word == "ring"   ? collective::Kind::ring_all_reduce
                         : word == "tree" ? collective::Kind::tree_all_reduce
                                          : collective::Kind::all_to_all);
  }
  for (const std::string& word : o.sizes) {
    const auto size = parse_size(word);
    if (!size) return Error{EINVAL, "--sizes: '" + word + "' is no size: write it as " + kSizeExamples};
    if (*size > kMostBytes) return Error{EINVAL, "--sizes: at most 1 GiB in one buffer"};
    plan.sizes.push_back(*size);
  }
  return plan;
}

/// What mpirun, srun and their kin have said; each number -1 where they did not.
struct Launch {
  int rank = number_from({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  int size = number_from({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  int here = number_from({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});  // on this host
  int hosts = number_from({"SLURM_STEP_NUM_NODES"});                          // srun says only this

  bool happened() const { return rank >= 0 && size > 0; }
  /// Not by what a batch job of Slurm has in its environment before anything is launched.
  bool of_several() const { return number_from({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) > 1; }
  bool elsewhere_too() const { return here > 0 ? here < size : hosts > 1; }
};

/// Empty when nothing is wrong.
std::string cannot_be(const collective::MeshOptions& mesh) {
  if (mesh.addresses.size() > kMostRanks) return "at most " + std::to_string(kMostRanks) + " ranks";
  if (mesh.tcp_port + mesh.addresses.size() <= 65536) return "";
  return "rank r listens at --port plus r, and there is no port " +
         std::to_string(mesh.tcp_port + mesh.addresses.size() - 1);
}

int run(Options o) {
  ::setenv("MRC_SPRAY_UNIT", std::to_string(o.spray_unit.value_or(kSprayUnit)).c_str(), o.spray_unit ? 1 : 0);
  const auto plan = make_plan(o);
  if (!plan) return refuse(plan.error().what);
  CollectiveJob job{*plan, {}, o.json, o.all_planes};
  job.mesh.tcp_port = o.port;
  job.mesh.device = o.device;
  job.mesh.timeout_ms = static_cast<int>(o.wait * 1000);
  const Launch launch;
  job.mesh.addresses = o.peers;
  if (o.peers.empty()) {
    const bool launched = launch.happened() && o.ranks == 0;
    if (launch.of_several() && o.ranks != 0)
      return refuse("each of these processes would start --ranks more: the launcher says how many there are");
    if (launched && launch.elsewhere_too())
      return refuse("these ranks are on several hosts: name the address of each, in order, with --peers");
    const std::size_t here = launched ? static_cast<std::size_t>(launch.size) : o.ranks == 0 ? 2 : o.ranks;
    job.mesh.addresses.assign(here, "127.0.0.1");
    if (o.device.empty() && std::getenv("MRC_DEVICES") == nullptr) job.mesh.device = "lo/127.0.0.1";
    if (const std::string wrong = cannot_be(job.mesh); !wrong.empty()) return refuse(wrong);
    if (!launched) return collective_on_this_host(job);
  }
  if (o.rank < 0 && launch.happened() && static_cast<std::size_t>(launch.size) != job.mesh.addresses.size())
    return refuse("the launcher has started " + std::to_string(launch.size) + " ranks, and --peers names " +
                  std::to_string(job.mesh.addresses.size()));
  if (o.rank < 0) o.rank = launch.rank;
  if (const std::string wrong = cannot_be(job.mesh); !wrong.empty()) return refuse(wrong);
  if (o.rank < 0 || static_cast<std::size_t>(o.rank) >= job.mesh.addresses.size()) {
    return refuse("which of the --peers is this? Say --rank N, 0 to " +
                  std::to_string(job.mesh.addresses.size() - 1) + ", or start it with mpirun");
  }
  job.mesh.rank = static_cast<std::uint32_t>(o.rank);
  const auto done = collective_rank(job);
  // A launcher mixes what all of them say.
  return done ? *done : complain("rank " + std::to_string(o.rank) + ": " + done.error().what);
}

}  // namespace

Run collective(CLI::App& app) {
  auto o = std::make_shared<Options>();
  auto* ranks = app.add_option("--ranks", o->ranks, "so many processes on this host, over loopback (2)")
                    ->check(CLI::Range(1u, kMostRanksHere));
  auto* peers = app.add_option("--peers", o->peers, "addresses of all ranks, in order: one rank per host")
                    ->delimiter(',')
                    ->excludes(ranks);
  app.add_option("--rank", o->rank, "which of them this is; mpirun and srun say it too")
      ->check(CLI::Range(0u, kMostRanks - 1))
      ->needs(peers);
  app.add_option("--device", o->device,
                 "interfaces, as in MRC_DEVICES: eth0,eth1 is one device over two planes");
  app.add_option("--port", o->port, "rank r listens at this TCP port plus r (18600)")
      ->check(CLI::Range(1, 65535));
  app.add_option("--kinds", o->kinds, "ring and tree all-reduce, alltoall (all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"ring", "tree", "alltoall"}));
  app.add_option("--sizes", o->sizes, "bytes of the buffer (8,64K,1M,16M)")->delimiter(',');
  app.add_option("--seconds", o->seconds, "for each row, about (0.3)")->check(real_range(0.0, 3600.0));
  app.add_option("--wait", o->wait, "seconds for the other ranks to come, and to answer (30)")
      ->check(real_range(0.1, 86400.0));
  app.add_option("--spray-unit", o->spray_unit, "packets in a row on one EV (MRC_SPRAY_UNIT, else 8)")
      ->check(CLI::Range(0, 64));
  app.add_flag(
      "--all-planes", o->all_planes,
      "fail, on all ranks, when a plane carries nothing between two of them; else that is only said");
  app.add_flag("--json", o->json, "one JSON object per row");
  app.footer(
      "Every value is checked on all ranks, before and after the time is taken. Bus bandwidth is what each "
      "rank's link carries.\n"
      "Example: mrc collective --ranks 4 --kinds ring --sizes 64K,16M\n"
      "Example: mrc collective --peers 10.0.0.1,10.0.0.2 --rank 0 --device eth0,eth1    (and --rank 1 on the "
      "other)\n"
      "Example: mpirun -n 4 mrc collective\n"
      "Example: mpirun -H a,b mrc collective --peers 10.0.0.1,10.0.0.2 --device eth0,eth1");
  return [o] { return run(*o); };
}

}  // namespace mrc::tools
