#include "tools/perf_flood.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tools/interruption.h"

namespace mrc::tools {
namespace {

using lib::steady_now;
using Completions = std::array<ibv_wc, 16>;

/// Shows how it goes, once a second, on a terminal.
class Ticker {
 public:
  explicit Ticker(const PerfOptions& o) : on_(!o.quiet && !o.json && ::isatty(STDERR_FILENO)) {}
  void tick(Time now, std::uint64_t writes, std::uint64_t size) {
    if (!on_ || now < next_) return;
    if (last_ != Time{}) {
      const double s = in_seconds(now - last_);
      const double rate = static_cast<double>(writes - writes_) / s;
      std::fprintf(stderr, "\r%8.2f Gb/s %8.3f M writes/s ", rate * static_cast<double>(size) * 8e-9,
                   rate * 1e-6);
    }
    last_ = now;
    writes_ = writes;
    next_ = now + 1s;
  }
  ~Ticker() {
    if (on_) std::fputs("\r\33[K", stderr);
  }

 private:
  bool on_;
  Time last_{}, next_{};
  std::uint64_t writes_ = 0;
};

/// An end with a rate leaves the core to others: until it is back, the device's own thread does what is due.
void rest() {
  constexpr timespec kTick{0, 2'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &kTick, nullptr);
}

/// A quarter of the queue; but what is long or has a rate takes its time, and a short run must see some of it
/// done.
std::uint32_t writes_per_completion(const PerfOptions& o) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
  if (o.rate != 0) return 1;
  const std::uint64_t most = kMostBytes / std::max<std::uint64_t>(o.size, 1);
  return std::max(1u, static_cast<std::uint32_t>(std::min<std::uint64_t>(o.depth / 4, most)));
}

/// Posts on one QP: how far it is, and how many of its writes a completion stands for.
struct Lane {
  std::uint64_t posted = 0;
  std::uint32_t in_flight = 0;
};

class Flood {
 public:
  explicit Flood(PerfSide& side)
      : side_(side), o_(side.options()), every_(writes_per_completion(o_)), lanes_(o_.qps) {}

  Status run(PerfResult& r);

 private:
  int fill(std::uint32_t q);
  int fill_all();
  Status take(const ibv_wc& wc, PerfResult& r);
  void earn(Time now);
  Error nothing_moves() const;

  PerfSide& side_;
  const PerfOptions& o_;
  const std::uint32_t every_;  // one completion for so many writes
  std::vector<Lane> lanes_;
  const Time start_ = steady_now();
  Time earned_ = start_;
  std::uint64_t outstanding_ = 0;
  double credit_ = 1;  // writes that a rate allows at once
  bool stop_ = false;
};

int Flood::fill(std::uint32_t q) {
  Lane& lane = lanes_[q];
  const auto may = [&] {
    return lane.in_flight < o_.depth && (o_.rate == 0 || credit_ >= 1) &&
           (!o_.imm || lane.posted < side_.granted(q));
  };
  while (!stop_ && may()) {
    const bool signaled = (lane.posted + 1) % every_ == 0;
    const auto slot = static_cast<std::uint32_t>(lane.posted % o_.depth);
    if (const int error = side_.post(q, slot, slot, signaled); error != 0) return error;
    ++lane.posted;
    ++lane.in_flight;
    ++outstanding_;
    credit_ -= 1;
  }
  return 0;
}

/// What a pause kept it from is not made up for: a rate is a rate, not a sum.
void Flood::earn(Time now) {
  const double writes = in_seconds(now - earned_) * static_cast<double>(o_.rate) / 8 /
                        static_cast<double>(std::max<std::uint64_t>(o_.size, 1));
  credit_ = std::min(credit_ + writes, std::max(1.0, static_cast<double>(o_.depth) * o_.qps / 2));
  earned_ = now;
}

int Flood::fill_all() {
  int error = 0;
  for (std::uint32_t q = 0; q < o_.qps && error == 0; ++q) error = fill(q);
  return error;
}

Status Flood::take(const ibv_wc& wc, PerfResult& r) {
  if (wc.status != IBV_WC_SUCCESS) return write_failed(wc);
  const auto q = static_cast<std::uint32_t>(wc.wr_id);
  lanes_[q].in_flight -= every_;
  outstanding_ -= every_;
  r.writes += every_;
  return fill(q) == 0 ? Status(Done{}) : Error{EIO, "post failed"};
}

/// A rate that was good until the peer or the way to it was gone is no result.
Error Flood::nothing_moves() const {
  return {ETIMEDOUT, std::to_string(outstanding_) +
                         " writes are not done, and none was for more than ten seconds (are the peer and "
                         "the interfaces still there?)"};
}

Status Flood::run(PerfResult& r) {
  Time end = start_ + Duration(static_cast<std::int64_t>(o_.seconds * 1e9));
  Completions wcs;
  Ticker ticker(o_);
  Time last = start_;  // when a write was done,
  Duration longest{};  // and the longest time between two
  if (const int error = fill_all(); error != 0)
    return Error{error, std::string("post: ") + std::strerror(error)};
  while (!stop_ || outstanding_ >= std::uint64_t{every_} * o_.qps) {
    const int n = side_.poll(wcs);
    for (int i = 0; i < n; ++i) {
      if (auto taken = take(wcs[static_cast<std::size_t>(i)], r); !taken) return taken;
    }
    const Time now = steady_now();
    if (n > 0) longest = std::max(longest, now - std::exchange(last, now));
    if (interruption() != 0) end = std::min(end, now);
    if (now >= end) {
      if (!stop_) r.elapsed = in_seconds(now - start_), r.bytes = r.writes * o_.size, stop_ = true;
      if (now >= end + 10s && now - last > std::max<Duration>(10s, 2 * longest)) return nothing_moves();
      if (now >= end + 10s) break;
    }
    if (!stop_) ticker.tick(now, r.writes, o_.size);
    if (o_.imm && n == 0 && fill_all() != 0)
      return Error{EIO, "post failed"};  // a grant completes nothing here
    if (o_.rate == 0) continue;
    earn(now);
    if (fill_all() != 0) return Error{EIO, "post failed"};
    if (n == 0) rest();
  }
  r.writes = o_.size == 0 ? r.writes : r.bytes / o_.size;
  if (r.writes > 0) return Done{};
  return Error{ETIMEDOUT,
               "no write was done when the time was over: give it more --seconds, or a smaller --size"};
}

}  // namespace

Error write_failed(const ibv_wc& wc) {
  return {EIO,
          std::string("a write failed: ") + ibv_wc_status_str(wc.status) + " (is the peer still there?)"};
}

Status flood(PerfSide& side, PerfResult& r) { return Flood(side).run(r); }

namespace {

/// The side that immediates go to: a new receive for each, and the sender hears of them in time.
class Receiver {
 public:
  explicit Receiver(PerfSide& side)
      : side_(side), o_(side.options()), every_(std::max(1u, o_.depth / 4)), lanes_(o_.imm ? o_.qps : 0) {}

  Status take(const ibv_wc& wc) {
    if (!o_.imm) return Done{};
    if (wc.status != IBV_WC_SUCCESS) return write_failed(wc);
    const auto q = static_cast<std::uint32_t>(wc.wr_id);
    Lane& lane = lanes_[q];
    if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
      ++lane.taken;
      if (const int error = side_.post_receives(q, 1); error != 0)
        return Error{error, "post of receives failed"};
    } else {
      lane.telling = false;
    }
    return tell(q, lane);
  }

 private:
  struct Lane {
    std::uint64_t taken = 0, told = 0;
    bool telling = false;  // one at a time, so that they arrive in order
  };

  /// Rounds that are compared need no grants: each begins with a word of this side.
  Status tell(std::uint32_t q, Lane& lane) {
    if (o_.verify || lane.telling || lane.taken - lane.told < every_) return Done{};
    lane.told = lane.taken;
    lane.telling = true;
    const int error = side_.grant(q, o_.depth + lane.taken);
    return error == 0 ? Status(Done{}) : Error{error, "post of a grant failed"};
  }

  PerfSide& side_;
  const PerfOptions& o_;
  const std::uint32_t every_;
  std::vector<Lane> lanes_;
};

}  // namespace

// It polls, so that its thread and not the progress thread takes packets in; unless there is a rate.
Status absorb(PerfSide& side) {
  const PerfOptions& o = side.options();
  const std::uint32_t look_every = o.rate == 0 ? 1024 : 1;
  Receiver receiver(side);
  Completions wcs;
  int n = 0;
  // When the peer waits, what it has sent is done: the rest of it is in the queue.
  for (std::uint32_t spins = 1; n > 0 || spins % look_every != 0 || !side.peer_waits(); ++spins) {
    n = side.poll(wcs);
    for (int i = 0; i < n; ++i) {
      if (auto taken = receiver.take(wcs[static_cast<std::size_t>(i)]); !taken) return taken;
    }
    if (o.rate != 0 && n == 0) rest();
  }
  return Done{};
}

}  // namespace mrc::tools
