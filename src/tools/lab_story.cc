#include "tools/lab_story.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>

namespace mrc::tools {
namespace {

using lab::Fd;
using Clock = std::chrono::steady_clock;

constexpr int kSilentTooLongMs = 60'000;

/// From a transfer's process to the story.
struct Report {
  enum class Kind : std::uint32_t { sample, sent, received, failed } kind = Kind::sample;
  BulkSample sample;
  char why[256] = {};
};

struct Ends {
  Fd ours, theirs;
};
Result<Ends> make_ends() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return port::errno_error("socketpair");
  return Ends{Fd(fds[0]), Fd(fds[1])};
}

void report(int fd, Report::Kind kind, const Result<BulkSample>& outcome) {
  Report r;
  r.kind = outcome ? kind : Report::Kind::failed;
  if (outcome) r.sample = *outcome;
  if (!outcome) std::snprintf(r.why, sizeof r.why, "%s", outcome.error().what.c_str());
  (void)::send(fd, &r, sizeof r, MSG_NOSIGNAL);
}

/// A transfer's process: it goes onto its host, and dies with the story.
template <class Work>
pid_t start_on(lab::Lab& lab, const std::string& host, int reports, Report::Kind kind, Work work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto entered = lab.enter(host);
  report(reports, kind, entered ? work() : Result<BulkSample>(entered.error()));
  ::_exit(0);
}

class Story {
 public:
  Story(lab::Lab& lab, const std::vector<Phase>& phases, const StoryWatcher& watch)
      : lab_(lab), phases_(phases), watch_(watch) {}

  /// Listens to the reports until both ends are done.
  Result<StoryResult> listen(int reports, int orders) {
    bool sent = false, received = false;
    while (!sent || !received) {
      Report r;
      pollfd waiting{reports, POLLIN, 0};
      if (::poll(&waiting, 1, kSilentTooLongMs) <= 0)
        return Error{ETIMEDOUT, "the transfer has been silent for a minute"};
      if (::recv(reports, &r, sizeof r, 0) != sizeof r) return Error{EPIPE, "the transfer's processes died"};
      if (r.kind == Report::Kind::failed) return Error{EIO, std::string("the transfer: ") + r.why};
      if (r.kind == Report::Kind::sent) result_.sender = r.sample, sent = true;
      if (r.kind == Report::Kind::received) result_.receiver = r.sample, received = true;
      if (r.kind != Report::Kind::sample) continue;
      if (auto stepped = step(r.sample, orders); !stepped) return stepped.error();
    }
    return result_;
  }

 private:
  Status step(const BulkSample& now, int orders) {
    if (over_) return Done{};
    if (!began_ || elapsed(now) >= phases_[phase_].seconds) return next_phase(now, orders);
    PhaseResult& p = result_.phases.back();
    p.longest_gap_ns = std::max(p.longest_gap_ns, now.longest_gap_ns);
    p.late_ns = std::max(p.late_ns, now.late_ns);
    watch_(phase_, elapsed(now), now);
    return Done{};
  }

  Status next_phase(const BulkSample& now, int orders) {
    if (began_) {
      close_phase(now);
      ++phase_;
    }
    began_ = true;
    first_ = now;
    if (phase_ == phases_.size()) {
      over_ = true;
      ::shutdown(orders, SHUT_WR);
      return Done{};
    }
    result_.phases.push_back({.title = phases_[phase_].title});
    return phases_[phase_].begin ? phases_[phase_].begin(lab_) : Status(Done{});
  }

  void close_phase(const BulkSample& now) {
    PhaseResult& p = result_.phases.back();
    p.longest_gap_ns = std::max(p.longest_gap_ns, now.longest_gap_ns);
    p.late_ns = std::max(p.late_ns, now.late_ns);
    p.seconds = elapsed(now);
    p.bytes = now.bytes - first_.bytes;
    p.repairs = now.repairs - first_.repairs;
    for (int i = 0; i < kMaxPlanes; ++i) p.sent[i] = now.sent[i] - first_.sent[i];
  }

  double elapsed(const BulkSample& now) const {
    return static_cast<double>(now.when_ns - first_.when_ns) / 1e9;
  }

  lab::Lab& lab_;
  const std::vector<Phase>& phases_;
  const StoryWatcher& watch_;
  StoryResult result_;
  BulkSample first_;  // of the phase
  std::size_t phase_ = 0;
  bool began_ = false, over_ = false;
};

}  // namespace

Result<StoryResult> run_story(lab::Lab& lab, const std::string& from, const std::string& to,
                              const std::vector<Phase>& phases, const StoryWatcher& watch,
                              const BulkSettings& settings) {
  auto channel = make_ends(), reports = make_ends(), orders = make_ends();
  if (!channel || !reports || !orders) return Error{EMFILE, "no more sockets"};
  const pid_t receiver = start_on(lab, to, reports->theirs.get(), Report::Kind::received, [&] {
    channel->ours.reset();
    return receive_bulk(channel->theirs.get(), settings);
  });
  const pid_t sender = start_on(lab, from, reports->theirs.get(), Report::Kind::sent, [&] {
    channel->theirs.reset();
    orders->ours.reset();
    return send_bulk(channel->ours.get(), settings, [&](const BulkSample& s) {
      report(reports->theirs.get(), Report::Kind::sample, s);
      char word;
      return ::recv(orders->theirs.get(), &word, 1, MSG_DONTWAIT) != 0;  // 0: no more orders, so end
    });
  });
  channel->ours.reset();
  channel->theirs.reset();
  reports->theirs.reset();
  auto result = Story(lab, phases, watch).listen(reports->ours.get(), orders->ours.get());
  for (const pid_t child : {sender, receiver}) {
    if (child <= 0) continue;
    if (!result) ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return result;
}

std::vector<Phase> usual_story(double s) {
  using std::chrono::milliseconds;
  const auto flaps = static_cast<std::uint32_t>(s / 0.2);
  return {
      {"everything works", {}, s},
      {"T0-T1 cable p0.t0.0-p0.t1.0 swallows everything",
       [](lab::Lab& l) { return l.fail("p0.t0.0-p0.t1.0", true); }, s},
      {"T0-T1 cable p1.t0.0-p1.t1.1 flaps, 100 ms down, 100 ms up",
       [=](lab::Lab& l) {
         return l.flap("p1.t0.0-p1.t1.1", milliseconds(100), milliseconds(100), std::max(flaps, 1u));
       },
       s},
      {"T1 switch p2.t1.0 dies", [](lab::Lab& l) { return l.fail("p2.t1.0"); }, s},
      {"NIC port h0.p3 dies", [](lab::Lab& l) { return l.fail("h0.p3"); }, s},
      {"all healed", [](lab::Lab& l) { return l.heal(); }, s},
  };
}

}  // namespace mrc::tools
