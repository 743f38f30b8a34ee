#include "tools/sim_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "tools/interruption.h"

namespace mrc::tools {
namespace {

constexpr double kLineSeconds = 0.2;
constexpr double kLinesSeconds = 1.0;

double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

double per_second(std::uint64_t now, std::uint64_t before, double t) {
  return t > 0 ? static_cast<double>(now - before) / t : 0;
}

}  // namespace

ProgressMode default_progress() { return isatty(STDERR_FILENO) ? ProgressMode::line : ProgressMode::off; }

SimProgress::SimProgress(ProgressMode mode, const ProgressGoals& goals)
    : mode_(mode), goals_(goals), start_(Clock::now()), last_(start_) {}

double SimProgress::part_done(const sim::Progress& p) const {
  double part = 0;
  if (goals_.bytes > 0) part = static_cast<double>(p.total.delivered) / static_cast<double>(goals_.bytes);
  if (goals_.end != sim::kNeverPs)
    part = std::max(part, static_cast<double>(p.now) / static_cast<double>(goals_.end));
  return std::min(part, 1.0);
}

scenario::Stop SimProgress::note(const sim::Progress& p) {
  using scenario::Stop;
  if (interruption() != 0) return Stop::interrupted;
  if (mode_ == ProgressMode::off && goals_.wall_seconds <= 0) return Stop::no;
  const auto now = Clock::now();
  const double elapsed = seconds(now - start_);
  const double since_last = seconds(now - last_);
  if (mode_ != ProgressMode::off &&
      since_last >= (mode_ == ProgressMode::line ? kLineSeconds : kLinesSeconds)) {
    show(p, elapsed, since_last);
    last_ = now;
    before_ = p;
  }
  out_of_time_ = goals_.wall_seconds > 0 && elapsed > goals_.wall_seconds;
  return out_of_time_ ? Stop::wall_time : Stop::no;
}

void SimProgress::show(const sim::Progress& p, double elapsed, double since_last) {
  const double part = part_done(p);
  const double eta = part > 0 ? elapsed * (1 - part) / part : 0;
  const double packets = per_second(p.total.packets, before_.total.packets, since_last);
  const double goodput = p.now > before_.now
                             ? static_cast<double>(p.total.delivered - before_.total.delivered) * 8e-9 /
                                   sim::seconds(p.now - before_.now)
                             : 0;
  if (mode_ == ProgressMode::line) {
    std::fprintf(stderr,
                 "\r%.3f us simulated, %.0f %%, %.2f M packets/s, %.1f Gb/s, %lu repairs, ETA %.0f s\033[K",
                 sim::microseconds(p.now), 100 * part, packets / 1e6, goodput, p.total.repairs, eta);
    std::fflush(stderr);
    shown_ = true;
    return;
  }
  JsonWriter json;
  json.begin_object().field("simulated_us", sim::microseconds(p.now)).field("part_done", part);
  json.field("packets_per_second", packets).field("goodput_gbps", goodput);
  json.field("delivered_bytes", p.total.delivered).field("data_packets", p.total.data_packets);
  json.field("repairs", p.total.repairs).field("eta_seconds", eta).end_object();
  std::fprintf(stderr, "%s\n", json.text().c_str());
}

void SimProgress::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace mrc::tools
