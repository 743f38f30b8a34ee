// `mrc lab`: a multi-plane SRv6 fabric of kernels on this machine, to run programs on and to break.
#include "lab/lab.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "tools/commands.h"
#include "tools/lab_verbs.h"
#include "tools/real_range.h"
#include "tools/size_option.h"
#include "tools/topology_options.h"
#include "tools/verb_set.h"

namespace mrc::tools {
namespace {

using std::chrono::microseconds;

std::string* add_name(CLI::App& app) {
  auto name = std::make_shared<std::string>("lab");
  app.add_option("--name", *name, "which lab, when there are several")->capture_default_str();
  app.parse_complete_callback([name] {});  // keeps it
  return name.get();
}

/// A verb that speaks to a running lab.
template <class Act>
Run on_lab(CLI::App& app, Act act) {
  const std::string* name = add_name(app);
  return [name, act] {
    auto lab = lab::Lab::find(*name);
    if (!lab) return lab_failed(lab.error());
    return act(*lab);
  };
}

template <class Act>
Run on_target(CLI::App& app, Act act) {
  auto target = std::make_shared<std::string>();
  app.add_option("target", *target,
                 "p0.t0.1-p0.t1.0 (a cable), p0.t0.1>p0.t1.0 (one way), p0.t1.0 (a switch), h0 (a host), "
                 "p0 (a plane), h0.p1 (a NIC port)")
      ->required();
  return on_lab(app, [target, act](lab::Lab& lab) { return lab_done(act(lab, *target)); });
}

struct UpOptions {
  bool direct = false;
  bool foreground = false, json = false, mrcd = false;
  std::uint32_t mtu = lab::WiringSettings{}.mtu;
  std::string switches = "kernel";
  fabric::LinkSettings link;
};

int wait_for_the_end() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, s);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  int signal = 0;
  sigwait(&set, &signal);
  return 0;
}

/// Who starts a lab that stays does not keep a line to it.
Status start_daemons_of(const std::string& name, const topo::Topology& topo) {
  auto lab = lab::Lab::find(name);
  if (!lab) return lab.error();
  const Status started = start_daemons(*lab, topo.hosts());
  if (!started) (void)lab->end();
  return started;
}

int bring_up(const topo::Topology& topo, const std::string& name, const UpOptions& o) {
  const auto began = std::chrono::steady_clock::now();
  lab::LabSettings settings;
  settings.name = name;
  settings.owned = o.foreground;
  settings.wiring.mtu = o.mtu;
  settings.wiring.soft = soft_tiers(o.switches);
  settings.wiring.tuning.link = o.link;
  settings.wiring.direct = o.direct;
  auto lab = lab::Lab::start(topo, settings);
  if (!lab) return lab_failed(lab.error());
  if (o.mrcd) {
    if (auto started = start_daemons_of(name, topo); !started) return lab_failed(started.error());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (o.json) {
    const nlohmann::ordered_json out = {{"name", name},
                                        {"hosts", topo.hosts()},
                                        {"planes", topo.planes()},
                                        {"switches", topo.switches()},
                                        {"links", topo.links()},
                                        {"seconds", took.count()}};
    std::printf("%s\n", out.dump().c_str());
  } else {
    std::printf("lab '%s' stands after %.2f s: %s, %s, %s, %s\n", name.c_str(), took.count(),
                counted(topo.hosts(), "host").c_str(), counted(topo.planes(), "plane").c_str(),
                counted(topo.switches(), "switch").c_str(), counted(topo.links(), "link").c_str());
  }
  std::fflush(stdout);
  return o.foreground ? wait_for_the_end() : 0;
}

Run up_verb(CLI::App& app) {
  auto o = std::make_shared<UpOptions>();
  const std::string* name = add_name(app);
  app.add_flag("--foreground", o->foreground, "stay; the lab ends with this command (Ctrl-C)");
  app.add_option("--mtu", o->mtu, "of every interface")
      ->check(CLI::Range(1500, 65535))
      ->capture_default_str();
  add_switch_option(app, o->switches);
  add_size_option(app, "--queue", o->link.data_limit, "bytes of data that wait at a port of mrc switch")
      ->capture_default_str();
  app.add_flag("--direct", o->direct,
               "direct uSID addressing: hosts take their segment ids as addresses instead of decapsulating");
  app.add_flag("--mrcd", o->mrcd, "mrcd on every host: mrc web and mrc top then show queue pairs and paths");
  app.add_flag("--json", o->json, "one JSON object");
  auto options = add_topology_options(app);
  app.footer("Example: mrc lab up --planes 4 --t0 2 --t1 2 --hosts-per-t0 2");
  return [o, name, options] {
    const auto topo = options->make();
    if (!topo) return lab_failed(topo.error());
    return bring_up(*topo, *name, *o);
  };
}

Run status_verb(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON object");
  app.footer("Example: mrc lab status");
  return on_lab(app, [json](lab::Lab& lab) { return print_lab_status(lab, *json); });
}

Run exec_verb(CLI::App& app) {
  struct Command {
    std::string node;
    std::vector<std::string> words;
  };
  auto o = std::make_shared<Command>();
  app.add_option("node", o->node, "a host or a switch, such as h0")->required();
  app.add_option("command", o->words, "the program and its arguments, after --")->required();
  app.footer("Example: mrc lab exec h0 -- ip -6 address");
  return on_lab(app, [o](lab::Lab& lab) {
    if (o->words.front() == "--") o->words.erase(o->words.begin());
    if (o->words.empty()) return lab_failed({EINVAL, "exec needs a program after --"});
    const auto status = lab.execute(o->node, o->words);
    return status ? *status : lab_failed(status.error());
  });
}

Run fail_verb(CLI::App& app) {
  auto silent = std::make_shared<bool>(false);
  app.add_flag("--silent", *silent,
               "a black hole: interfaces stay up, packets vanish (always so for one way)");
  app.footer("Example: mrc lab fail p0.t0.0-p0.t1.1 --silent");
  return on_target(app, [silent](lab::Lab& lab, const std::string& t) { return lab.fail(t, *silent); });
}

Run heal_verb(CLI::App& app) {
  auto target = std::make_shared<std::string>();
  app.add_option("target", *target, "as for fail; without it, everything");
  app.footer("Example: mrc lab heal p0.t0.0-p0.t1.1");
  return on_lab(app, [target](lab::Lab& lab) { return lab_done(lab.heal(*target)); });
}

Run flap_verb(CLI::App& app) {
  struct Pattern {
    std::string down = "100ms", up = "100ms";
    std::uint32_t times = 10;
    bool silent = false;
  };
  auto o = std::make_shared<Pattern>();
  app.add_option("--down", o->down, "how long it is down")->capture_default_str();
  app.add_option("--up", o->up, "and up")->capture_default_str();
  app.add_option("--times", o->times, "how often")->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_flag("--silent", o->silent, "a black hole, as for fail");
  app.footer("Example: mrc lab flap p0.t0.0-p0.t1.1 --down 50ms --up 200ms --times 20");
  return on_target(app, [o](lab::Lab& lab, const std::string& t) -> Status {
    const auto down = topo::parse_delay(o->down), up = topo::parse_delay(o->up);
    if (!down) return down.error();
    if (!up) return up.error();
    return lab.flap(t, std::chrono::ceil<microseconds>(*down), std::chrono::ceil<microseconds>(*up), o->times,
                    o->silent);
  });
}

Run drop_verb(CLI::App& app) {
  auto share = std::make_shared<double>(0);
  auto run = on_target(app, [share](lab::Lab& lab, const std::string& t) { return lab.drop(t, *share); });
  app.add_option("share", *share, "of packets that vanish, such as 0.01; 0: none")
      ->required()
      ->check(real_range(0.0, 1.0));
  app.footer("Example: mrc lab drop 'p0.t0.0>p0.t1.1' 0.2");
  return run;
}

Run rate_verb(CLI::App& app) {
  auto rate = std::make_shared<std::string>();
  auto run = on_target(app, [rate](lab::Lab& lab, const std::string& t) -> Status {
    const auto bits = topo::parse_rate(*rate);
    return bits ? lab.rate(t, *bits) : bits.error();
  });
  app.add_option("rate", *rate, "bits per second, such as 500M; both ways for a cable")->required();
  app.footer("Example: mrc lab rate h0-p0.t0.0 1G");
  return run;
}

Run pcap_verb(CLI::App& app) {
  auto o = std::make_shared<LabCapture>();
  app.add_option("node", o->node, "a host or a switch")->required();
  app.add_option("interface", o->interface, "such as p0, d0, u1; 'any': all of them")->capture_default_str();
  app.add_option("-w,--write", o->file, "where the capture goes")->required();
  app.add_option("--packets", o->packets, "ends after so many")->capture_default_str();
  app.add_option("--seconds", o->seconds, "ends after so long")
      ->check(real_range(0.0, 1e6))
      ->capture_default_str();
  app.footer("Example: mrc lab pcap p0.t1.0 d0 -w t1.pcap --packets 1000");
  return on_lab(app, [o](lab::Lab& lab) { return lab_done(capture_in_lab(lab, *o)); });
}

Run down_verb(CLI::App& app) {
  app.footer("Example: mrc lab down");
  return on_lab(app, [](lab::Lab& lab) { return lab_done(lab.end()); });
}

}  // namespace

int lab_failed(const Error& error) {
  std::fprintf(stderr, "mrc lab: %s\n", error.what.c_str());
  return 1;
}

std::set<topo::Tier> soft_tiers(const std::string& word) {
  if (word == "soft") return {topo::Tier::t0, topo::Tier::t1, topo::Tier::t2};
  if (word == "soft-t0") return {topo::Tier::t0};
  if (word == "soft-t1") return {topo::Tier::t1};
  return {};
}

void add_switch_option(CLI::App& app, std::string& word) {
  app.add_option("--switch", word,
                 "kernel: Linux forwards; soft: mrc switch does, with trimming and ECN; or in one tier")
      ->check(CLI::IsMember({"kernel", "soft", "soft-t0", "soft-t1"}))
      ->capture_default_str();
}

int lab_done(const Status& status) { return status ? 0 : lab_failed(status.error()); }

Run lab(CLI::App& app) {
  app.footer("Example: mrc lab up --planes 4 && mrc lab exec h0 -- ip -6 route");
  return add_verbs(
      app, {{"up", "start a fabric", up_verb},
            {"status", "what there is and what is broken", status_verb},
            {"exec", "run a program on a node", exec_verb},
            {"fail", "take down a cable, switch, host, plane or NIC port, loudly or silently", fail_verb},
            {"heal", "undo faults", heal_verb},
            {"flap", "take something down and up again and again", flap_verb},
            {"drop", "lose a share of packets", drop_verb},
            {"rate", "limit a rate", rate_verb},
            {"pcap", "capture on a node", pcap_verb},
            {"run", "a transfer while a lab of its own breaks and heals, as a live picture", lab_run_verb},
            {"down", "end it; nothing is left", down_verb}});
}

}  // namespace mrc::tools
