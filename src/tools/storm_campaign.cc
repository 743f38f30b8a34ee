#include "tools/storm_campaign.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/json.h"

namespace mrc::tools {
namespace {

constexpr std::size_t kMostTold = 20;  // broken worlds that are named

thread_local std::string replay;

void tell_replay() { std::fprintf(stderr, "replay: %s\n", replay.c_str()); }

}  // namespace

Campaign::Campaign(StormKind kind, SeedRange range, unsigned jobs, bool json)
    : kind_(std::move(kind)), range_(range), jobs_(jobs), json_(json), totals_(kind_.counts.size()) {}

int Campaign::run() {
  on_check_failure = tell_replay;
  std::vector<std::thread> crew;
  for (unsigned i = 0; i < jobs_; ++i) crew.emplace_back([this] { work(); });
  show_progress();
  for (auto& t : crew) t.join();
  std::printf("%s\n", (json_ ? json() : text()).c_str());
  return found_ == 0 ? 0 : 1;
}

void Campaign::work() {
  const std::uint64_t last = range_.last - range_.first;
  for (std::uint64_t i = started_++; i <= last; i = started_++) {
    const std::uint64_t seed = range_.first + i;
    replay = kind_.command + " --seeds " + std::to_string(seed);
    Judged judged = kind_.run(seed, false);
    // Every sixteenth world is run again: the same seed must give the same trace.
    if (judged.broken.empty() && seed % 16 == 0 && kind_.run(seed, true).trace != judged.trace)
      judged.broken = "the trace differs when repeated";
    add(seed, std::move(judged));
  }
}

void Campaign::add(std::uint64_t seed, Judged judged) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (!judged.broken.empty()) ++found_;
  early_.emplace(seed, std::move(judged));
  for (auto next = early_.begin(); next != early_.end() && next->first == range_.first + settled_;
       next = early_.erase(next), ++settled_)
    settle(next->first, next->second);
}

void Campaign::settle(std::uint64_t seed, const Judged& judged) {
  for (std::size_t i = 0; i < totals_.size(); ++i) totals_[i] += judged.counts[i];
  if (judged.took_us > slowest_us_) slowest_us_ = judged.took_us, slowest_seed_ = seed;
  if (judged.broken.empty() || broken_.size() == kMostTold) return;
  broken_.push_back({seed, judged.broken});
  std::fprintf(stderr, "%sseed %llu: %s\n  replay: %s --seeds %llu\n", isatty(STDERR_FILENO) ? "\n" : "",
               static_cast<unsigned long long>(seed), judged.broken.c_str(), kind_.command.c_str(),
               static_cast<unsigned long long>(seed));
}

void Campaign::show_progress() {
  if (isatty(STDERR_FILENO) == 0) return;
  const std::uint64_t all = range_.last - range_.first + 1;
  const auto start = std::chrono::steady_clock::now();
  while (done_ < all) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double rate = static_cast<double>(done_) / s;
    std::fprintf(stderr, "\r%llu of %llu worlds, %.0f/s, %.0f s left, %llu broken ",
                 static_cast<unsigned long long>(done_), static_cast<unsigned long long>(all), rate,
                 static_cast<double>(all - done_) / std::max(rate, 1.0),
                 static_cast<unsigned long long>(found_));
  }
  std::fprintf(stderr, "\n");
}

std::string Campaign::text() const {
  std::string out = counted(settled_, "world") + ", " + std::to_string(found_) + " broken";
  for (std::size_t i = 0; i < totals_.size(); ++i)
    out += (i == 0 ? "; " : ", ") + counted(totals_[i], kind_.counts[i].noun) + kind_.counts[i].rest;
  if (!kind_.timed) return out;
  char slowest[80];
  std::snprintf(slowest, sizeof slowest, "; the slowest took %.0f us (seed %llu)", slowest_us_,
                static_cast<unsigned long long>(slowest_seed_));
  return out + slowest;
}

std::string Campaign::json() const {
  JsonWriter json;
  json.begin_object().field("worlds", settled_).field("broken", std::uint64_t{found_});
  for (std::size_t i = 0; i < totals_.size(); ++i) json.field(kind_.counts[i].key, totals_[i]);
  if (kind_.timed) json.field("slowest_us", slowest_us_).field("slowest_seed", slowest_seed_);
  json.begin_array("broken_worlds");
  for (const Broken& b : broken_) {
    json.begin_object().field("seed", b.seed).field("why", b.why);
    json.field("replay", kind_.command + " --seeds " + std::to_string(b.seed)).end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace mrc::tools
