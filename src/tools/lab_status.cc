// `mrc lab status` and `mrc lab pcap`.
#include <pcap/pcap.h>
#include <poll.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "tools/interruption.h"
#include "tools/lab_verbs.h"
#include "topo/spec.h"

namespace mrc::tools {
namespace {

using nlohmann::json;

constexpr int kLookAtTheClockMs = 50;

void print_fault(const json& f) {
  std::printf("  %-8s %-4s %-24s", f["node"].get<std::string>().c_str(),
              f["interface"].get<std::string>().c_str(), f["link"].get<std::string>().c_str());
  if (f["down"].get<bool>()) std::printf(" down");
  if (const double loss = f["loss"]; loss > 0)
    loss >= 1 ? std::printf(" swallows arrivals") : std::printf(" loses %g of arrivals", loss);
  if (const std::uint64_t rate = f["bits_per_second"]; rate > 0)
    std::printf(" sends at most %s", topo::rate_text(rate).c_str());
  std::printf("\n");
}

/// Copies frames to the file until there are enough, time is up or somebody ends it; how many.
Result<std::uint64_t> copy_frames(pcap_t* from, pcap_dumper_t* to, const LabCapture& what) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(what.seconds);
  std::uint64_t kept = 0;
  char problem[PCAP_ERRBUF_SIZE] = {};
  if (pcap_setnonblock(from, 1, problem) != 0) return Error{EIO, problem};
  pollfd arrivals{pcap_get_selectable_fd(from), POLLIN, 0};
  while (kept < what.packets && interruption() == 0 && std::chrono::steady_clock::now() < end) {
    ::poll(&arrivals, 1, kLookAtTheClockMs);
    pcap_pkthdr* head = nullptr;
    const u_char* bytes = nullptr;
    const int got = pcap_next_ex(from, &head, &bytes);
    if (got < 0) return Error{EIO, pcap_geterr(from)};
    if (got == 0) continue;
    pcap_dump(reinterpret_cast<u_char*>(to), head, bytes);
    ++kept;
  }
  if (pcap_dump_flush(to) != 0 || std::ferror(pcap_dump_file(to)) != 0)
    return port::errno_error("write " + what.file);
  return kept;
}

}  // namespace

int print_lab_status(lab::Lab& lab, bool as_json) {
  const auto status = lab.status();
  if (!status) return lab_failed(status.error());
  if (as_json) return std::printf("%s\n", status->c_str()), 0;
  const json s = json::parse(*status);
  const auto of = [&](const char* key, const char* noun) { return counted(s[key].get<unsigned>(), noun); };
  std::printf("%s, %s, %s, %s, %s per plane\n", of("hosts", "host").c_str(), of("planes", "plane").c_str(),
              of("switches", "switch").c_str(), of("links", "link").c_str(),
              of("evs_per_plane", "path").c_str());
  for (const json& h : s["host_addresses"]) {
    std::printf("  %-4s", h["host"].get<std::string>().c_str());
    for (const json& a : h["addresses"]) std::printf(" %s", a.get<std::string>().c_str());
    std::printf("\n");
  }
  const bool one = s["faults"].size() == 1;
  std::printf("%s %s not as %s should be\n", counted(s["faults"].size(), "cable end").c_str(),
              one ? "is" : "are", one ? "it" : "they");
  for (const json& f : s["faults"]) print_fault(f);
  for (const json& f : s["flapping"])
    std::printf("  %s flaps, %s to come\n", f["target"].get<std::string>().c_str(),
                counted(f["times_left"].get<unsigned>(), "time").c_str());
  return 0;
}

// Ctrl-C is a usual way to end it, and the file must be whole then too.
Status capture_in_lab(lab::Lab& lab, const LabCapture& what) {
  heed_interruption();
  std::FILE* file = std::fopen(what.file.c_str(), "wbe");  // here: the lab's user may not write there
  if (file == nullptr) return port::errno_error("open " + what.file);
  if (auto entered = lab.enter(what.node); !entered) return entered;
  char problem[PCAP_ERRBUF_SIZE] = {};
  pcap_t* from = pcap_open_live(what.interface.c_str(), 65535, 0, 100, problem);
  if (from == nullptr) return Error{ENODEV, what.node + " " + what.interface + ": " + problem};
  pcap_dumper_t* to = pcap_dump_fopen(from, file);
  const Result<std::uint64_t> kept =
      to != nullptr ? copy_frames(from, to, what) : Error{EIO, pcap_geterr(from)};
  if (to != nullptr) pcap_dump_close(to);
  pcap_close(from);
  if (!kept) return kept.error();
  std::fprintf(stderr, "%s in %s\n", counted(*kept, "packet").c_str(), what.file.c_str());
  return Done{};
}

}  // namespace mrc::tools
