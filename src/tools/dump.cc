// `mrc dump`: what a capture holds, packet by packet.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/counted.h"
#include "tools/commands.h"
#include "tools/dump_text.h"
#include "tools/follow.h"
#include "tools/wire_options.h"

namespace mrc::tools {
namespace {

struct DumpOptions {
  std::string file, follow;
  std::vector<std::uint32_t> qps;
  bool full = false, json = false, all = false;
  wire::Settings settings;
};

struct Tally {
  std::uint64_t shown = 0, foreign = 0, bad = 0, unfinished = 0;

  void note_shown(const SeenPacket& seen) {
    ++shown;
    bad += seen.verdict != Verdict::ok && seen.verdict != Verdict::trimmed_ok;
    unfinished += seen.unfinished_checksum;
  }
};

bool wanted(const SeenPacket& seen, const DumpOptions& options) {
  if (is_foreign(seen)) return options.all;
  if (options.qps.empty()) return true;
  const auto& qps = options.qps;
  return names_packet(seen) && std::find(qps.begin(), qps.end(), seen.parsed.packet.dqpn.value) != qps.end();
}

void show(const SeenPacket& seen, Time start, const DumpOptions& options) {
  if (options.json) {
    std::puts(dump_json(seen, start).c_str());
  } else if (options.full) {
    std::fputs(dump_full(seen, start).c_str(), stdout);
  } else {
    std::puts(dump_line(seen, start).c_str());
  }
}

/// The summary goes to stderr: standard output holds packets only.
int finish(const CaptureReader& reader, CaptureReader::Next how, const Tally& tally) {
  std::fprintf(stderr, "%s shown, %llu of them not well formed; %s %s not MRC\n",
               counted(tally.shown, "packet").c_str(), static_cast<unsigned long long>(tally.bad),
               counted(tally.foreign, "frame").c_str(), tally.foreign == 1 ? "was" : "were");
  if (tally.unfinished > 0)
    std::fprintf(stderr, "the UDP checksum of %llu of them was left to the device that sends\n",
                 static_cast<unsigned long long>(tally.unfinished));
  if (how == CaptureReader::Next::end) return 0;
  std::fprintf(stderr, "mrc dump: the capture ends in a damaged record: %s\n", reader.error().c_str());
  return 1;
}

int run_dump(const DumpOptions& options) {
  auto reader = CaptureReader::open(options.file);
  if (!reader) {
    std::fprintf(stderr, "mrc dump: %s\n", reader.error().what.c_str());
    return 1;
  }
  Tally tally;
  CapturedFrame frame{};
  Time start = kNever;
  CaptureReader::Next next;
  while ((next = reader->read(frame)) == CaptureReader::Next::frame) {
    if (start == kNever) start = frame.time;
    see_packets(frame, reader->link(), options.settings, [&](const SeenPacket& seen) {
      tally.foreign += is_foreign(seen);
      if (!wanted(seen, options)) return;
      tally.note_shown(seen);
      show(seen, start, options);
    });
  }
  return finish(*reader, next, tally);
}

}  // namespace

Run dump(CLI::App& app) {
  auto options = std::make_shared<DumpOptions>();
  app.add_option("file", options->file, "a pcap or pcapng file; - is standard input")->required();
  app.add_option("--qp", options->qps, "only packets to this queue pair (may be repeated)")
      ->allow_extra_args(false);
  app.add_option("--follow", options->follow,
                 "the story of a queue pair: QPN, or QPN@ADDRESS where hosts share numbers")
      ->type_name("QPN[@ADDRESS]");
  app.add_flag("--full", options->full, "every header with its fields");
  app.add_flag("--json", options->json, "one JSON object per packet and line");
  app.add_flag("--all", options->all, "also frames that are not MRC");
  add_wire_options(app, options->settings);
  app.footer("Example: mrc dump capture.pcap --qp 0x11 --full");
  return [options] {
    if (options->follow.empty()) return run_dump(*options);
    return follow(options->file, options->follow, options->json, options->settings);
  };
}

}  // namespace mrc::tools
