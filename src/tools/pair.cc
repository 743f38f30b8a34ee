// `mrc pair`: two endpoints and a bad network between them, in virtual time, with the packets as a capture.
#include "pair/pair.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/json.h"
#include "tools/capture.h"
#include "tools/commands.h"
#include "tools/real_range.h"
#include "tools/size_option.h"
#include "wire/codec.h"

namespace mrc::tools {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
constexpr Duration kPatience = std::chrono::seconds(60);  // of virtual time

struct PairOptions {
  std::uint32_t writes = 64, size = 65536, depth = 16;
  int ports = 4, evs = 32;
  double loss = 0, trim = 0, mark = 0, jitter_us = 0, delay_us = 5;
  std::uint64_t seed = 1;
  std::string capture;
  bool json = false;
};

/// Writes what both ends send into a capture, as the bytes that a wire would see. Each port is a plane with
/// addresses of its own.
class Recorder {
 public:
  explicit Recorder(CaptureWriter writer) : writer_(std::move(writer)) {}

  void record(Time now, int from, const engine::Transmit& t) {
    wire::Route route{address(from, t.envelope.port), address(1 - from, t.envelope.port)};
    const auto* write = std::get_if<wire::Write>(&t.packet.body);
    const std::size_t length = write != nullptr ? write->payload : 0;
    payload_.assign(length, static_cast<std::uint8_t>(t.packet.psn.value()));
    frame_.resize(wire::kMaxHead + length + 8);
    const std::size_t n = wire::emit_l3(t.packet, t.envelope, route, payload_, settings_, frame_);
    writer_.write(now, Bytes(frame_).first(n));
  }
  Status finish() { return writer_.finish(); }

 private:
  static wire::IpAddress address(int side, PortId port) {
    wire::IpAddress a;
    a.bytes = {0xFD, 0x00, 0, port.value, 0, 0, 0, 0,
               0,    0,    0, 0,          0, 0, 0, static_cast<std::uint8_t>(side + 1)};
    return a;
  }

  CaptureWriter writer_;
  wire::Settings settings_;
  std::vector<std::uint8_t> payload_, frame_;
};

pair::PairConfig config_of(const PairOptions& options) {
  pair::PairConfig config;
  config.ports = options.ports;
  config.evs_per_port = options.evs;
  config.delay = Duration(static_cast<std::int64_t>(options.delay_us * 1000));
  config.memory = std::size_t{options.writes} * options.size;
  config.seed = options.seed;
  return config;
}

void worsen(pair::Network& network, const PairOptions& options) {
  network.for_each_lane([&](pair::Lane& lane) {
    lane.loss = options.loss;
    lane.trim = options.trim;
    lane.mark = options.mark;
    lane.jitter = Duration(static_cast<std::int64_t>(options.jitter_us * 1000));
  });
}

/// Keeps `depth` writes posted until all have completed; false when that takes longer than anyone would wait.
bool transfer(pair::Pair& pair, const PairOptions& options) {
  std::uint32_t posted = 0;
  const auto& completions = pair.side(0).completions;
  return pair.run_until(
      [&] {
        bool more = false;
        while (posted < options.writes && posted - completions.size() < options.depth &&
               pair.write(0, posted, posted * options.size, options.size).error == 0) {
          ++posted;
          more = true;
        }
        if (more) pair.kick();
        return completions.size() == options.writes;
      },
      kPatience);
}

struct Outcome {
  bool completed = false, all_succeeded = false, placed_once = false;
  double us = 0, gbps = 0;
};

Outcome judge(pair::Pair& pair, bool completed, const PairOptions& options) {
  Outcome outcome{.completed = completed};
  const auto& completions = pair.side(0).completions;
  outcome.all_succeeded = completed && std::all_of(completions.begin(), completions.end(), [](const auto& c) {
                            return c.status == engine::WorkStatus::success;
                          });
  const auto& writes = pair.side(1).memory.writes();
  outcome.placed_once = std::all_of(writes.begin(), writes.end(), [](std::uint8_t n) { return n == 1; });
  outcome.us = static_cast<double>(pair.now().time_since_epoch().count()) / 1000;
  outcome.gbps = outcome.us > 0 ? double(options.writes) * options.size * 8 / outcome.us / 1000 : 0;
  return outcome;
}

void report_text(pair::Pair& pair, const Outcome& outcome, const PairOptions& options) {
  const pair::NetworkCounters& n = pair.network().counters();
  const engine::RequestorCounters& r = pair.side(0).qp.requestor().counters();
  const auto v = [](std::uint64_t x) { return static_cast<unsigned long long>(x); };
  std::printf("%s of %s over %s with %s each, %.1f us one way\n", counted(options.writes, "write").c_str(),
              counted(options.size, "byte").c_str(), counted(options.ports, "port").c_str(),
              counted(options.evs, "EV").c_str(), options.delay_us);
  std::printf("%s after %.1f us of virtual time: %.1f Gb/s\n",
              outcome.all_succeeded ? "all completed" : "NOT all completed", outcome.us, outcome.gbps);
  std::printf("network: %s sent, %llu lost, %llu trimmed, %llu marked\n", counted(n.sent, "packet").c_str(),
              v(n.lost), v(n.trimmed), v(n.marked));
  std::printf("requestor: %s, %llu of them repairs; %s, %s inferred, %s, %s\n",
              counted(r.packets, "data packet").c_str(), v(r.repairs), counted(r.nacked, "NACK").c_str(),
              counted(r.lost_by_order + r.lost_by_silence, "loss").c_str(),
              counted(r.lost_by_timeout, "timeout").c_str(), counted(r.probes, "probe").c_str());
  std::printf("every byte placed exactly once: %s\n", outcome.placed_once ? "yes" : "NO");
}

void report_json(pair::Pair& pair, const Outcome& outcome, const PairOptions& options) {
  const pair::NetworkCounters& n = pair.network().counters();
  const engine::RequestorCounters& r = pair.side(0).qp.requestor().counters();
  JsonWriter json;
  json.begin_object()
      .field("writes", options.writes)
      .field("size", options.size)
      .field("ports", options.ports);
  json.field("evs", options.evs).field("seed", options.seed).field("completed", outcome.all_succeeded);
  json.field("placed_once", outcome.placed_once).field("us", outcome.us).field("gbps", outcome.gbps);
  json.begin_object("network").field("sent", n.sent).field("lost", n.lost).field("trimmed", n.trimmed);
  json.field("marked", n.marked).end_object();
  json.begin_object("requestor")
      .field("packets", r.packets)
      .field("repairs", r.repairs)
      .field("nacked", r.nacked);
  json.field("inferred", r.lost_by_order + r.lost_by_silence).field("timeouts", r.lost_by_timeout);
  std::puts(json.field("probes", r.probes).end_object().end_object().text().c_str());
}

int run_pair(const PairOptions& options) {
  if (std::uint64_t{options.writes} * options.size > kMaxBytes) {
    std::fputs("mrc pair: writes times size may be at most 1 GiB, because all of it is checked in memory\n",
               stderr);
    return 1;
  }
  if (options.ports * options.evs > engine::kMaxEvs) {
    std::fprintf(stderr, "mrc pair: ports times EVs may be at most %u: lower --evs or --ports\n",
                 static_cast<unsigned>(engine::kMaxEvs));
    return 2;
  }
  pair::Pair pair(config_of(options));
  worsen(pair.network(), options);
  std::optional<Recorder> recorder;
  if (!options.capture.empty()) {
    auto writer = CaptureWriter::create(options.capture, LinkType::raw_ip);
    if (!writer) return std::fprintf(stderr, "mrc pair: %s\n", writer.error().what.c_str()), 1;
    recorder.emplace(std::move(*writer));
    pair.network().filter = [&](Time now, int from, const engine::Transmit& t) {
      recorder->record(now, from, t);
      return true;
    };
  }
  const Outcome outcome = judge(pair, transfer(pair, options), options);
  options.json ? report_json(pair, outcome, options) : report_text(pair, outcome, options);
  if (recorder && !recorder->finish()) return std::fputs("mrc pair: cannot write the capture\n", stderr), 1;
  return outcome.all_succeeded && outcome.placed_once ? 0 : 1;
}

}  // namespace

Run pair(CLI::App& app) {
  auto o = std::make_shared<PairOptions>();
  app.add_option("--writes", o->writes, "how many writes (64)")->check(CLI::Range(1, 1 << 20));
  add_size_option(app, "--size", o->size, "bytes of each (64K)", 1, 1 << 30);
  app.add_option("--depth", o->depth, "posted at a time (16)")->check(CLI::Range(1, 4096));
  app.add_option("--ports", o->ports, "ports, each a plane (4)")->check(CLI::Range(1, kMaxPorts));
  app.add_option("--evs", o->evs, "EVs of each port (32)")->check(CLI::Range(1, 256));
  app.add_option("--loss", o->loss, "share of packets lost, 0 to 1")->check(real_range(0.0, 0.9));
  app.add_option("--trim", o->trim, "share of packets trimmed")->check(real_range(0.0, 0.9));
  app.add_option("--mark", o->mark, "share of packets marked CE")->check(real_range(0.0, 1.0));
  app.add_option("--jitter", o->jitter_us, "up to this many us of extra delay")->check(real_range(0.0, 1e4));
  app.add_option("--delay", o->delay_us, "one way, in us (5)")->check(real_range(0.1, 1e5));
  app.add_option("--seed", o->seed, "one seed, one run (1)");
  app.add_option("--capture", o->capture, "write every packet that is sent to this pcap file");
  app.add_flag("--json", o->json, "one JSON object");
  app.footer(
      "Example: mrc pair --loss 0.01 --trim 0.01 --capture pair.pcap && mrc dump pair.pcap --follow 0x101");
  return [o] { return run_pair(*o); };
}

}  // namespace mrc::tools
