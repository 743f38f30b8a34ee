#include "tools/lab_story.h"

#include <algorithm>
#include <cerrno>

#include "lib/progress.h"
#include "tools/lab_account.h"
#include "tools/lab_transfer.h"

namespace mrc::tools {
namespace {

using Kind = TransferReport::Kind;

class Story {
 public:
  Story(lab::Lab& lab, const std::vector<Phase>& phases, const StoryWatcher& watch)
      : lab_(lab), phases_(phases), watch_(watch) {}

  /// Listens to the reports until all ends are done.
  Result<StoryResult> listen(LabTransfers& transfers, std::size_t count) {
    result_.others.resize(count - 1);
    for (std::size_t done = 0; done < 2 * count;) {
      const auto r = transfers.next();
      if (!r) return r.error();
      Ends& ends = r->transfer == 0 ? result_ : result_.others[r->transfer - 1];
      if (r->kind == Kind::sent) ends.sender = r->sample, ++done;
      if (r->kind == Kind::received) ends.receiver = r->sample, ++done;
      if (r->kind != Kind::sample || r->transfer != 0) continue;
      if (auto stepped = step(r->sample, transfers); !stepped) return stepped.error();
    }
    return result_;
  }

 private:
  Status step(const BulkSample& now, LabTransfers& transfers) {
    if (over_) return Done{};
    if (!began_) return next_phase(now, transfers);
    // Breaking things takes time, on a busy machine a lot of it: what was reported meanwhile is not the
    // phase.
    if (now.when_ns < begun_ns_) first_ = now;
    if (elapsed(now) >= phases_[phase_].seconds) return next_phase(now, transfers);
    note_gaps(now);
    watch_(phase_, elapsed(now), now);
    return Done{};
  }

  Status next_phase(const BulkSample& now, LabTransfers& transfers) {
    if (began_) {
      close_phase(now);
      ++phase_;
    }
    began_ = true;
    first_ = now;
    if (phase_ == phases_.size()) {
      over_ = true;
      transfers.finish();
      return Done{};
    }
    result_.phases.push_back({.title = phases_[phase_].title});
    const Status begun = phases_[phase_].begin ? phases_[phase_].begin(lab_) : Status(Done{});
    begun_ns_ = lib::steady_now().time_since_epoch().count();
    return begun;
  }

  void note_gaps(const BulkSample& now) {
    PhaseResult& p = result_.phases.back();
    p.longest_gap_ns = std::max(p.longest_gap_ns, now.longest_gap_ns);
    p.late_ns = std::max(p.late_ns, now.late_ns);
  }

  void close_phase(const BulkSample& now) {
    note_gaps(now);
    PhaseResult& p = result_.phases.back();
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
  BulkSample first_;           // of the phase
  std::int64_t begun_ns_ = 0;  // when what the phase breaks was broken
  std::size_t phase_ = 0;
  bool began_ = false, over_ = false;
};

}  // namespace

Result<StoryResult> run_story(lab::Lab& lab, const std::vector<TransferEnds>& ends,
                              const std::vector<Phase>& phases, const StoryWatcher& watch,
                              const BulkSettings& settings) {
  auto transfers = LabTransfers::start(lab, ends, settings);
  if (!transfers) return transfers.error();
  auto told = Story(lab, phases, watch).listen(*transfers, ends.size());
  if (!told) return Error{told.error().code, told.error().what + switch_account(lab)};
  return told;
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
