#include "tools/lab_picture.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "tools/terminal.h"

namespace mrc::tools {
namespace {

constexpr int kBarWidth = 32;
constexpr std::size_t kEventsShown = 8;
constexpr double kScreenEvery = 0.2, kLineEvery = 1;

double gigabits(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) * 8e-9 / seconds : 0;
}

}  // namespace

LabPicture::LabPicture(std::vector<Phase> phases)
    : phases_(std::move(phases)), terminal_(::isatty(STDOUT_FILENO) == 1) {}

void LabPicture::note_events(std::size_t phase, const BulkSample& now) {
  char text[160];
  const double at = static_cast<double>(now.when_ns - start_ns_) / 1e9;
  const auto add = [&](const std::string& what) {
    std::snprintf(text, sizeof text, "%6.2f s  %s", at, what.c_str());
    events_.emplace_back(text);
  };
  if (phase != told_phase_) add("--- " + phases_[phase].title);
  told_phase_ = phase;
  for (std::uint32_t p = 0; p < now.planes && p < kMaxPlanes; ++p) {
    const std::string plane = "plane " + std::to_string(p);
    const bool up = now.ports_up >> p & 1, was = last_.ports_up >> p & 1;
    if (up != was) add(plane + (up ? ": port up" : ": port down"));
    const bool lame = now.bad_evs[p] > 0, whole = now.bad_evs[p] == now.evs[p];
    if (lame != (last_.bad_evs[p] > 0) || whole != (last_.bad_evs[p] == last_.evs[p]))
      add(plane + ": " + std::to_string(now.bad_evs[p]) + " of " + std::to_string(now.evs[p]) +
          " EVs assumed bad");
  }
  last_ = now;
}

void LabPicture::draw(std::size_t phase, double seconds, const BulkSample& now) {
  if (start_ns_ == 0) {
    start_ns_ = now.when_ns;
    shown_ = last_ = now;
  }
  note_events(phase, now);
  const double span = static_cast<double>(now.when_ns - shown_.when_ns) / 1e9;
  if (span < (terminal_ ? kScreenEvery : kLineEvery)) return;
  terminal_ ? draw_screen(phase, seconds, now, span) : draw_line(phase, seconds, now, span);
  shown_ = now;
}

void LabPicture::draw_line(std::size_t, double, const BulkSample& now, double span) {
  for (const std::string& event : events_) std::printf("%s\n", event.c_str());
  events_.clear();
  std::printf("%6.2f s  %6.2f Gb/s  per plane:", static_cast<double>(now.when_ns - start_ns_) / 1e9,
              gigabits(now.bytes - shown_.bytes, span));
  for (std::uint32_t p = 0; p < now.planes && p < kMaxPlanes; ++p)
    std::printf(" %5.2f", gigabits(now.sent[p] - shown_.sent[p], span));
  std::printf("  bad EVs:");
  for (std::uint32_t p = 0; p < now.planes && p < kMaxPlanes; ++p)
    std::printf(" %d/%d", now.bad_evs[p], now.evs[p]);
  std::printf("  repairs %llu\n", static_cast<unsigned long long>(now.repairs));
  std::fflush(stdout);
}

void LabPicture::draw_screen(std::size_t phase, double seconds, const BulkSample& now, double span) {
  if (!drawn_) std::printf("\033[2J");
  drawn_ = true;
  std::printf("\033[H\033[1m%s\033[0m  (%.1f s)\033[K\n\033[K\n", phases_[phase].title.c_str(), seconds);
  std::printf(
      "goodput %6.2f Gb/s   verified on arrival %.2f GB   repairs %llu   failed completions "
      "%llu\033[K\n\033[K\n",
      gigabits(now.bytes - shown_.bytes, span), static_cast<double>(now.bytes) / 1e9,
      static_cast<unsigned long long>(now.repairs), static_cast<unsigned long long>(now.failed));
  for (std::uint32_t p = 0; p < now.planes && p < kMaxPlanes; ++p) {
    const double rate = gigabits(now.sent[p] - shown_.sent[p], span);
    best_plane_ = std::max(best_plane_, rate);
    std::printf("plane %u %s %6.2f Gb/s  port %-4s  EVs %3d good %3d bad\033[K\n", p,
                bar(rate, best_plane_, kBarWidth).c_str(), rate, now.ports_up >> p & 1 ? "up" : "DOWN",
                now.evs[p] - now.bad_evs[p], now.bad_evs[p]);
  }
  std::printf("\033[K\n");
  const std::size_t from = events_.size() > kEventsShown ? events_.size() - kEventsShown : 0;
  for (std::size_t i = from; i < events_.size(); ++i) std::printf("%s\033[K\n", events_[i].c_str());
  std::printf("\033[J");
  std::fflush(stdout);
}

void print_summary(const StoryResult& r) {
  std::printf("\n%-58s %12s %14s %14s %9s\n", "phase", "goodput", "longest gap", "late by", "repairs");
  for (const PhaseResult& p : r.phases)
    std::printf("%-58s %7.2f Gb/s %11.2f ms %11.2f ms %9llu\n", p.title.c_str(), p.goodput() / 1e9,
                static_cast<double>(p.longest_gap_ns) / 1e6, static_cast<double>(p.late_ns) / 1e6,
                static_cast<unsigned long long>(p.repairs));
  std::printf(
      "longest gap: between two completed messages. Late by: the longest that either end was kept from "
      "working "
      "by\nother work on this machine; a gap of that length is not the network's. Spray unit: %s.\n",
      counted(r.sender.spray_unit, "packet").c_str());
  std::printf("\n%s, %s sent; %s verified on arrival; %s; %s\n",
              counted(r.sender.messages, "message").c_str(), counted(r.sender.bytes, "byte").c_str(),
              counted(r.receiver.bytes, "byte").c_str(),
              counted(r.receiver.corrupt, "corrupt message").c_str(),
              counted(r.sender.failed + r.receiver.failed, "failed completion").c_str());
  std::printf("%s\n", r.flawless() ? "every byte arrived, nothing failed" : "THIS IS NOT WHAT SHOULD HAPPEN");
}

std::string summary_json(const StoryResult& r) {
  nlohmann::ordered_json phases = nlohmann::ordered_json::array();
  for (const PhaseResult& p : r.phases)
    phases.push_back({{"title", p.title},
                      {"seconds", p.seconds},
                      {"bits_per_second", p.goodput()},
                      {"longest_gap_us", static_cast<double>(p.longest_gap_ns) / 1e3},
                      {"late_us", static_cast<double>(p.late_ns) / 1e3},
                      {"repairs", p.repairs}});
  const nlohmann::ordered_json out = {{"phases", phases},
                                      {"bytes_sent", r.sender.bytes},
                                      {"bytes_verified", r.receiver.bytes},
                                      {"corrupt", r.receiver.corrupt},
                                      {"failed", r.sender.failed + r.receiver.failed},
                                      {"spray_unit", r.sender.spray_unit},
                                      {"packets", r.sender.packets},
                                      {"repairs", r.sender.repairs},
                                      {"lost_by_order", r.sender.lost_by_order},
                                      {"lost_by_silence", r.sender.lost_by_silence},
                                      {"lost_by_timeout", r.sender.lost_by_timeout},
                                      {"retries", r.sender.retries},
                                      {"duplicates", r.receiver.duplicates},
                                      {"overruns", r.receiver.overruns},
                                      {"refused", r.sender.refused + r.receiver.refused},
                                      {"flawless", r.flawless()}};
  return out.dump();
}

}  // namespace mrc::tools
