// `mrc collective`: collectives between processes or hosts, as a demonstration and as an acceptance test of a
// cluster.
#include "tools/collective.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tools/commands.h"

namespace mrc::tools {
namespace {

struct Options {
  std::uint32_t ranks = 0;
  int rank = -1;
  std::vector<std::string> peers, kinds{"ring", "tree", "alltoall"};
  std::vector<std::string> sizes{"8", "64K", "1M", "16M"};
  std::string device;
  std::uint16_t port = 18600;
  std::uint32_t spray_unit = 8;
  double seconds = 0.3;
  bool json = false;
};

int complain(const std::string& what) {
  std::fprintf(stderr, "mrc collective: %s\n", what.c_str());
  return 1;
}

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
  const CLI::AsSizeValue as_size(false);
  for (std::string word : o.sizes) {
    if (const std::string refused = as_size(word); !refused.empty()) return Error{EINVAL, refused};
    plan.sizes.push_back(std::strtoull(word.c_str(), nullptr, 10));
    if (plan.sizes.back() > kMostBytes) return Error{EINVAL, "at most 1 GiB in one buffer"};
  }
  return plan;
}

int run(Options o) {
  ::setenv("MRC_SPRAY_UNIT", std::to_string(o.spray_unit).c_str(), 1);
  const auto plan = make_plan(o);
  if (!plan) return complain(plan.error().what);
  CollectiveJob job{*plan, {}, o.json};
  job.mesh.tcp_port = o.port;
  job.mesh.device = o.device;
  if (o.rank < 0) o.rank = number_from({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  const int size = number_from({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  job.mesh.addresses = o.peers;
  if (o.peers.empty()) {
    const bool launched = o.rank >= 0 && size > 0 && o.ranks == 0;
    job.mesh.addresses.assign(launched       ? static_cast<std::size_t>(size)
                              : o.ranks == 0 ? 2
                                             : o.ranks,
                              "127.0.0.1");
    if (o.device.empty() && std::getenv("MRC_DEVICES") == nullptr) job.mesh.device = "lo/127.0.0.1";
    if (!launched) return collective_on_this_host(job);
  }
  if (job.mesh.addresses.size() > kMostRanks)
    return complain("at most " + std::to_string(kMostRanks) + " ranks");
  if (o.rank < 0 || static_cast<std::size_t>(o.rank) >= job.mesh.addresses.size()) {
    return complain("which of the --peers is this? Say --rank N, counted from 0, or start it with mpirun");
  }
  job.mesh.rank = static_cast<std::uint32_t>(o.rank);
  const auto done = collective_rank(job);
  return done ? *done : complain(done.error().what);
}

}  // namespace

Run collective(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("--ranks", o->ranks, "so many processes on this host, over loopback (2)")
      ->check(CLI::Range(1u, kMostRanks));
  app.add_option("--peers", o->peers, "addresses of all ranks, in order: one rank per host")->delimiter(',');
  app.add_option("--rank", o->rank, "which of them this is; mpirun and srun say it too");
  app.add_option("--device", o->device,
                 "interfaces, as in MRC_DEVICES: eth0,eth1 is one device over two planes");
  app.add_option("--port", o->port, "rank r listens at this TCP port plus r (18600)");
  app.add_option("--kinds", o->kinds, "ring and tree all-reduce, alltoall (all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"ring", "tree", "alltoall"}));
  app.add_option("--sizes", o->sizes, "bytes of the buffer (8,64K,1M,16M)")->delimiter(',');
  app.add_option("--seconds", o->seconds, "for each row, about (0.3)")->check(CLI::Range(0.0, 3600.0));
  app.add_option("--spray-unit", o->spray_unit, "packets in a row on one EV (8)")->check(CLI::Range(1, 64));
  app.add_flag("--json", o->json, "one JSON object per row");
  app.footer(
      "Every value is checked on all ranks, before and after the time is taken. Bus bandwidth is what each "
      "rank's link carries.\n"
      "Example: mrc collective --ranks 4 --kinds ring --sizes 64K,16M\n"
      "Example: mrc collective --peers 10.0.0.1,10.0.0.2 --rank 0 --device eth0,eth1    (and --rank 1 on the "
      "other)\n"
      "Example: mpirun -n 4 mrc collective");
  return [o] { return run(*o); };
}

}  // namespace mrc::tools
