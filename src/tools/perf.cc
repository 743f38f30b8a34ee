// `mrc perf`: the command line.
#include "tools/perf.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "lib/device_settings.h"
#include "tools/commands.h"
#include "tools/interruption.h"
#include "tools/real_range.h"
#include "tools/size_option.h"
#include "topo/spec.h"

namespace mrc::tools {
namespace {

constexpr int kMaxQps = 16384;

int complain(const Error& error) {
  std::fprintf(stderr, "mrc perf: %s\n", error.what.c_str());
  return 1;
}

/// Options that do not go together.
int refuse(const char* what) { return complain({EINVAL, what}), 2; }

int measure(const PerfOptions& o) {
  const auto result = perf_measure(o);
  if (!result) return complain(result.error());
  const std::string text = o.json ? perf_json(o, *result) + "\n" : perf_table(o, *result);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (!result->lame_planes.empty())
    std::fprintf(stderr, "mrc perf: at the end some plane carried nothing: %s\n",
                 result->lame_planes.c_str());
  if (result->was_late)
    std::fputs("mrc perf: this end had to wait for a core: other work on this machine made it slower\n",
               stderr);
  if (interruption() == 0) return 0;
  std::fprintf(stderr, "mrc perf: interrupted; the figures are of %.1f s\n", result->elapsed);
  return interrupted_status();
}

[[noreturn]] void listen_and_exit(const PerfOptions& o) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGINT, SIG_IGN);  // Ctrl-C is the other end's, which says when it is over
  const auto served = perf_serve(o);
  ::_exit(served ? 0 : complain(served.error()));
}

/// Both ends on this host: a child listens. It goes when we do, and we don't wait for one that has said why
/// it can't.
int run_local(PerfOptions o) {
  constexpr const char* kHere = "127.0.0.1";
  o.listen = o.connect = kHere;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return complain({errno, "no pipe"});
  o.says_it_listens = ends[1];
  const pid_t child = ::fork();
  if (child == 0) listen_and_exit(o);
  ::close(ends[1]);
  char byte = 0;
  const bool listens = child > 0 && ::read(ends[0], &byte, 1) == 1;
  ::close(ends[0]);
  if (child < 0) return complain({errno, "can't fork"});
  const int status = listens ? measure(o) : 1;
  if (status != 0) ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return status;
}

int run_perf(const PerfOptions& o) {
  const int roles = !o.listen.empty() + !o.connect.empty() + o.local;
  if (roles != 1) return refuse("say one of --listen ADDRESS, --connect HOST and --local");
  if (const auto read = lib::read_device_settings(); !read) return refuse(read.error().what.c_str());
  if (o.latency && o.size == 0) return refuse("a ping-pong needs at least one byte");
  if (o.rate != 0 && (o.latency || o.verify))
    return refuse("--rate is for writes in a stream: not with --latency or --verify");
  if (o.latency && (o.verify || o.qps > 1))
    return refuse("--latency is one write at a time on one queue pair: not with --verify or --qps");
  if (o.local) return run_local(o);
  if (!o.connect.empty()) return measure(o);
  const auto served = perf_serve(o);
  return served ? 0 : complain(served.error());
}

}  // namespace

Run perf(CLI::App& app) {
  auto o = std::make_shared<PerfOptions>();
  if (const char* set = std::getenv("MRC_ICRC"); set != nullptr) o->icrc = std::string_view(set) != "0";
  app.add_option("--listen", o->listen, "be the side that is written to, at this address of this host");
  app.add_option("--connect", o->connect, "measure writes to the host that listens");
  app.add_flag("--local", o->local, "both ends on this host, over loopback");
  app.add_option("--tcp-port", o->service, "where to meet (18515)")->check(CLI::Range(1, 65535));
  app.add_option(
      "--device", o->device,
      "interfaces to use, as in MRC_DEVICES: eth0/10.0.0.1,eth1/10.0.1.1 is two ports (mrcd's device, else "
      "the interface toward the other end)");
  add_size_option(app, "--size", o->size, "bytes of a write (64K)", 0, 1 << 30);
  app.add_option("--depth", o->depth, "writes in flight on each QP (64)")->check(CLI::Range(1, 16384));
  add_size_option(
      app, "--memory", o->memory,
      "bytes that all writes share, at each end (1M, as other benchmarks do: it stays in the cache; "
      "--verify has a place for each write)",
      1, std::uint64_t{4} << 30);
  app.add_option("--qps", o->qps, "queue pairs (1)")->check(CLI::Range(1, kMaxQps));
  app.add_option("--seconds", o->seconds, "how long (2)")->check(real_range(0.01, 86400.0));
  app.add_option("--wait", o->wait,
                 "seconds for the other end to come (--connect: 30; --listen: until it does)")
      ->check(real_range(0.1, 86400.0));
  app.add_option_function<std::string>(
      "--rate",
      [o](const std::string& text) {
        const auto rate = topo::parse_rate(text);
        if (!rate) throw CLI::ValidationError("--rate", rate.error().what);
        o->rate = *rate;
      },
      "write no faster than this, such as 20M, and sleep in between: a load beside other work");
  app.add_option("--spray-unit", o->spray_unit,
                 "packets in a row on one EV (8); 1 is the conformant mode, 0 as many as one send carries")
      ->check(CLI::Range(0, 64))
      ->envname("MRC_SPRAY_UNIT");
  app.add_option("--mtu", o->mtu, "path MTU (4096)")->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  app.add_option("--cc", o->cc, "congestion control: nscc, off, or a fixed window such as constant:128K")
      ->check([](const std::string& text) {
        lib::DeviceSettings unused;
        const auto read = lib::read_cc(text, unused);
        return read ? std::string() : read.error().what;
      });
  app.add_option("--ev-profile", o->ev_profile,
                 "this end's paths: the EV profile with this number, as `mrc ctl profiles` lists them");
  app.add_option("--cc-profile", o->cc_profile, "this end's congestion control: the CC profile")
      ->excludes("--cc");
  app.add_flag("--latency", o->latency, "ping-pong: half the round trip");
  app.add_flag("--imm", o->imm, "writes with immediate");
  app.add_flag("--verify", o->verify, "compare every byte");
  app.add_flag("!--no-icrc", o->icrc, "leave the iCRC out");
  app.add_flag("--json", o->json, "one JSON object");
  app.add_flag("--quiet", o->quiet, "no progress on the terminal, and no word about waiting");
  app.footer(
      "Both ends take the same --size, --depth, --memory, --qps, --latency, --imm, --verify, --rate and "
      "--no-icrc.\n"
      "Example: mrc perf --listen 10.0.0.2    and    mrc perf --connect 10.0.0.2 --size 1M --json\n"
      "Example: mrc perf --local --latency --size 8");
  return [o] { return run_perf(*o); };
}

}  // namespace mrc::tools
