// `mrc conform`: plays requestor or responder against a device, and says which requirements it breaks.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/json.h"
#include "conform/report.h"
#include "conform/self_device.h"
#include "conform/wire_edge.h"
#include "tools/capture.h"
#include "tools/commands.h"
#include "tools/conform_agent.h"
#include "tools/conform_remote.h"
#include "tools/progress_line.h"
#include "tools/size_option.h"
#include "tools/verb_set.h"
#include "tools/wire_options.h"

namespace mrc::tools {
namespace {

namespace fs = std::filesystem;

struct ConformOptions {
  conform::Selection selection;
  conform::BenchSettings bench;
  std::string role, report, captures;
  bool json = false;
  // run
  std::string agent, service = kAgentPort;
  std::vector<std::string> address, local;  // plane by plane
  int planes = 1;                           // of self
  std::vector<std::uint32_t> qpns;
  conform::Target target;
  std::uint32_t rkey = 0, qpn = 0x1234, psn = 0xFFFFF0;
  double answer_ms = 200, quiet_ms = 20;
};

int complain(const Error& error) {
  std::fprintf(stderr, "mrc conform: %s\n", error.what.c_str());
  return 1;
}

/// One file per check that failed; their names for the report, which lies beside them or not.
Result<conform::Captures> write_captures(const conform::Report& report, const std::string& folder) {
  conform::Captures files;
  for (const conform::CheckResult& r : report.results) {
    if (r.capture.empty()) continue;
    std::error_code error;
    fs::create_directories(folder, error);
    const std::string path = (fs::path(folder) / (std::string(r.check.name) + ".pcap")).string();
    auto writer = CaptureWriter::create(path, LinkType::raw_ip);
    if (!writer) return writer.error();
    for (const conform::Frame& frame : r.capture) writer->write(frame.at, frame.bytes);
    if (auto done = writer->finish(); !done) return done.error();
    files[std::string(r.check.name)] = path;
  }
  return files;
}

Status write_report(const conform::Report& report, conform::Captures captures, const std::string& path) {
  const fs::path folder = fs::absolute(path).parent_path();  // links lead from where the report lies
  for (auto& [check, file] : captures) file = fs::absolute(file).lexically_relative(folder).string();
  std::ofstream out(path);
  out << (path.ends_with(".html") ? to_html(report, captures) : to_markdown(report, captures));
  return out.flush() ? Status(Done{}) : Error{errno, "can't write " + path + ": " + std::strerror(errno)};
}

/// Runs what was selected; the exit status says whether the device conforms.
int test(const ConformOptions& o, conform::Edge& edge, conform::Device& device, const std::string& who) {
  const auto checks = conform::select_checks(o.selection);
  if (!checks) return complain(checks.error());
  const bool colour = ::isatty(STDOUT_FILENO) == 1;
  ProgressLine progress(o.json);  // otherwise the table itself grows
  std::size_t ended = 0;
  const auto show = [&](const conform::CheckResult& r) {
    progress.show(std::to_string(++ended) + " of " + std::to_string(checks->size()) + " checks");
    if (!o.json) std::fputs(row(r, colour).c_str(), stdout), std::fflush(stdout);
  };
  conform::Report report = run_checks(*checks, edge, device, o.bench, show);
  progress.clear();
  report.device = who;
  const auto captures = write_captures(report, o.captures);
  if (!captures) return complain(captures.error());
  if (!o.report.empty()) {
    if (auto written = write_report(report, *captures, o.report); !written) return complain(written.error());
  }
  if (o.json)
    std::printf("%s\n", to_json(report, *captures).c_str());
  else
    std::printf("%s%s\n", closing(report).c_str(),
                captures->empty() ? "" : (", packets in " + o.captures).c_str());
  return report.conforms() ? 0 : 1;
}

void add_run_options(CLI::App& app, ConformOptions& o) {
  app.add_option("--check", o.selection.names, "only these (`mrc conform list` names them)");
  app.add_option("--role", o.role, "the part that the device plays (both)")
      ->check(CLI::IsMember({"requestor", "responder"}));
  app.add_option("--report", o.report, "write a report: Markdown, or HTML when it ends in .html");
  app.add_option("--captures", o.captures, "folder for the packets of each failure")->capture_default_str();
  add_size_option(app, "--sack-bytes", o.bench.sack_bytes, "the device's SACK threshold")
      ->capture_default_str();
  app.add_option("--evs", o.bench.evs, "least number of EVs that a device sprays over")
      ->capture_default_str();
  app.add_flag("--json", o.json, "one JSON object");
}

void note_role(ConformOptions& o) {
  if (!o.role.empty())
    o.selection.responder = o.role == "responder", o.selection.requestor = o.role == "requestor";
}

Run self_verb(CLI::App& app) {
  auto o = std::make_shared<ConformOptions>();
  o->captures = "conform-captures";
  add_run_options(app, *o);
  app.add_option("--planes", o->planes, "planes between tester and device")
      ->check(CLI::Range(1, 8))
      ->capture_default_str();
  app.footer("Example: mrc conform self --role responder");
  return [o] {
    note_role(*o);
    conform::SelfDevice self({.planes = o->planes});
    return test(*o, self, self, "OpenMRC, in virtual time");
  };
}

Result<std::unique_ptr<conform::Device>> reach(const ConformOptions& o) {
  if (!o.agent.empty()) {
    auto device = AgentDevice::open(o.agent, o.service, o.local.front());
    if (!device) return device.error();
    return std::unique_ptr<conform::Device>(*std::move(device));
  }
  conform::Target like = o.target;
  like.rkey = RKey(o.rkey);
  return std::unique_ptr<conform::Device>(std::make_unique<NumberedDevice>(like, o.qpns));
}

Result<std::vector<port::Address>> parse_all(const std::vector<std::string>& texts) {
  std::vector<port::Address> all;
  for (const std::string& text : texts) {
    const auto address = port::parse_address(text);
    if (!address) return address.error();
    all.push_back(*address);
  }
  return all;
}

int run_on_wire(ConformOptions& o) {
  note_role(o);
  if (o.agent.empty() == o.qpns.empty())
    return complain({EINVAL, "say either --agent HOST, or --address with --qpn, --rkey, --va and --length"});
  o.bench.answer = Duration(static_cast<std::int64_t>(o.answer_ms * 1e6));
  o.bench.quiet = Duration(static_cast<std::int64_t>(o.quiet_ms * 1e6));
  o.bench.terms.qpn = Qpn(o.qpn);
  o.bench.terms.psn = Psn(o.psn);
  if (o.address.empty()) o.address = {o.agent};
  const auto device_at = parse_all(o.address), local = parse_all(o.local);
  if (!device_at) return complain(device_at.error());
  if (!local) return complain(local.error());
  auto edge = conform::WireEdge::open(*local, *device_at, o.bench.wire.udp_port);
  if (!edge) return complain(edge.error());
  auto device = reach(o);
  if (!device) return complain(device.error());
  return test(o, **edge, **device, o.address.front());
}

Run run_verb(CLI::App& app) {
  auto o = std::make_shared<ConformOptions>();
  o->captures = "conform-captures";
  o->target.length = 1 << 20;
  add_run_options(app, *o);
  app.add_option(
         "--local", o->local,
         "address of this host, which the device knows as its peer; with several planes, one of each: "
         "A,B")
      ->delimiter(',')
      ->required();
  app.add_option("--agent", o->agent, "address of the host where `mrc conform device` runs");
  app.add_option("--tcp-port", o->service, "of the agent")->capture_default_str();
  app.add_option("--address", o->address,
                 "the device's address, when it is not the agent's; with several planes, one of each")
      ->delimiter(',');
  app.add_option("--answer-ms", o->answer_ms, "how long an answer may take")->capture_default_str();
  app.add_option("--quiet-ms", o->quiet_ms, "silence for so long is an answer too")->capture_default_str();
  auto* numbers = app.add_option_group("Without an agent", "responder checks, one QP each");
  numbers->add_option("--qpn", o->qpns, "QPs of the device, in RTR or RTS (may be repeated)");
  numbers->add_option("--our-qpn", o->qpn, "the QPN that they have for their peer")->capture_default_str();
  numbers->add_option("--psn", o->psn, "the PSN that they expect first")->capture_default_str();
  numbers->add_option("--rkey", o->rkey, "of memory that may be written");
  numbers->add_option("--va", o->target.va, "its address");
  add_size_option(*numbers, "--length", o->target.length, "its bytes")->capture_default_str();
  numbers->add_option("--mpr", o->target.mpr, "units of 128 PSNs that they accept")
      ->default_str(std::to_string(o->target.mpr));
  add_wire_options(app, o->bench.wire);
  app.footer("Example: mrc conform run --agent 10.0.0.2 --local 10.0.0.1 --report conform.html");
  return [o] { return run_on_wire(*o); };
}

Run device_verb(CLI::App& app) {
  auto o = std::make_shared<AgentOptions>();
  o->service = kAgentPort;
  app.add_option("--listen", o->address, "address of this host, for MRC and for the tester")->required();
  app.add_option("--tcp-port", o->service, "for the tester; 0: any free one, which is printed")
      ->capture_default_str();
  app.add_option("--device", o->device, "interfaces to use, as in MRC_DEVICES");
  app.add_flag("--once", o->once, "end when the first tester leaves");
  app.add_flag("--json", o->json, "where it waits, in one JSON object");
  app.footer(
      "It uses mrc.h alone: with another libmrc in its place it is the hand on another device.\n"
      "Example: mrc conform device --listen 10.0.0.2");
  return [o] {
    const auto served = serve_conform(*o);
    return served ? 0 : complain(served.error());
  };
}

int list(bool as_json) {
  JsonWriter json;
  json.begin_array();
  for (const conform::Check& c : conform::all_checks()) {
    if (!as_json) {
      std::printf("%-22s %-12s %-9s  %s\n", std::string(c.name).c_str(), std::string(c.requirement).c_str(),
                  name(c.role).data(), std::string(c.says).c_str());
    }
    json.begin_object().field("name", c.name).field("requirement", c.requirement).field("role", name(c.role));
    json.field("says", c.says).end_object();
  }
  if (as_json) std::printf("%s\n", json.end_array().text().c_str());
  return 0;
}

Run list_verb(CLI::App& app) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON array");
  app.footer("Example: mrc conform list");
  return [json] { return list(*json); };
}

}  // namespace

Run conform(CLI::App& app) {
  app.footer(
      "Example: mrc conform self\n"
      "         mrc conform run --agent 10.0.0.2 --local 10.0.0.1");
  return add_verbs(app, {{"list", "the checks, and the requirement behind each", list_verb},
                         {"self", "this implementation, in virtual time", self_verb},
                         {"run", "a device on the network", run_verb},
                         {"device", "the hand on a device under test: runs beside it", device_verb}});
}

}  // namespace mrc::tools
