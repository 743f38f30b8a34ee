#include "view/sim_source.h"

#include <algorithm>

namespace mrc::view {
namespace {

using sim::Ps;
using Verb = Action::Verb;
using What = sim::Stroke::What;

constexpr double kSecondsToWatch = 30;
constexpr double kLeastPace = 1e-6, kUsualPace = 1e-4;
constexpr Ps kShortRun = 10 * sim::kPsPerSecond / 1000;    // a longer one is a limit, not a plan
constexpr auto kLongestSilence = std::chrono::seconds(1);  // between two frames, however slow the simulation

/// What a person waits for: the end of the last phase and the last fault that heals.
double pace_for(const scenario::Scenario& s) {
  Ps last = 0;
  const auto note = [&](Ps t) {
    if (t != sim::kNeverPs) last = std::max(last, t);
  };
  for (const scenario::Phase& p : s.phases) note(p.to);
  for (const scenario::FaultSpec& f : s.faults) note(f.fault.until), note(f.fault.at);
  if (last == 0 && s.world.end <= kShortRun) note(s.world.end);
  return last > 0 ? std::clamp(sim::seconds(last) / kSecondsToWatch, kLeastPace, 1.0) : kUsualPace;
}

}  // namespace

Result<std::unique_ptr<SimSource>> SimSource::make(scenario::Scenario scenario, const SimSettings& settings) {
  auto prepared = scenario::prepare(scenario);
  if (!prepared) return prepared.error();
  if (settings.host && *settings.host >= prepared->topology.hosts())
    return Error{EINVAL, "there is no host " + std::to_string(*settings.host) + "; the last is h" +
                             std::to_string(prepared->topology.hosts() - 1)};
  return std::unique_ptr<SimSource>(new SimSource(std::move(scenario), settings, prepared->topology));
}

SimSource::SimSource(scenario::Scenario scenario, const SimSettings& settings, const topo::Topology& topo)
    : scenario_(std::move(scenario)), settings_(settings), topo_(topo) {
  pace_ = settings.pace > 0 ? settings.pace : pace_for(scenario_);
  fabric_ = {scenario_.name, "simulation", topo_.spec(), true, true};
}

SimSource::~SimSource() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void SimSource::start(Sink sink) {
  sink_ = std::move(sink);
  thread_ = std::thread([this] { work(); });
}

void SimSource::work() {
  for (;;) {
    auto prepared = scenario::prepare(scenario_);
    MRC_CHECK(prepared);  // it was prepared before
    run_once(*prepared);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ending_ || restart_; });
    if (ending_) return;
    restart_ = false;
  }
}

// The host whose packets are looked at: asked for, or the first that takes part.
void SimSource::adopt_host(scenario::Prepared& prepared) {
  const std::lock_guard lock(mutex_);
  sim::Host host = settings_.host.value_or(0);
  while (!settings_.host && host + 1 < topo_.hosts() && !prepared.load->takes_part(host)) ++host;
  focus_.host = host;
  prepared.world.hosts.traced = host;
  prepared.world.hosts.sink = &packets_;
}

void SimSource::run_once(scenario::Prepared& prepared) {
  adopt_host(prepared);
  sim::World world(prepared.topology, prepared.world, *prepared.load);
  frames_ = std::make_unique<WorldFrames>(topo_);
  next_frame_ = least_frame_ = 0;
  phase_ = 0;
  paced_with_ = 0;
  sim::Progress last;
  world.run([&](const sim::Progress& p) {
    last = p;
    return watch(world, p);
  });
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || restart_) return;
  }
  last.total = world.total();
  Frame f = frames_->take(world, last, focus_, packets_);
  f.done = true;
  show(std::move(f));
}

/// Between two windows, millions of times: the common case is one comparison.
bool SimSource::watch(sim::World& world, const sim::Progress& p) {
  if (p.now < next_frame_ && (p.now < least_frame_ || Clock::now() - last_frame_ < kLongestSilence))
    return true;
  Focus focus;
  {
    const std::lock_guard lock(mutex_);
    focus = focus_;
  }
  show(frames_->take(world, p, focus, packets_));
  if (!keep_pace(p.now)) return false;
  obey(world);
  return true;
}

void SimSource::obey(sim::World& world) {
  const std::lock_guard lock(mutex_);
  world.strike_soon(std::exchange(strokes_, {}));
}

void SimSource::show(Frame f) {
  tell_phases(f);
  last_frame_ = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    for (Happening& h : done_) {
      h.time_ns = f.time_ns;
      f.happenings.push_back(std::move(h));
    }
    done_.clear();
    f.paused = paused_;
    f.pace = pace_;
  }
  f.number = shown_++;
  sink_(to_json(f, topo_));
}

void SimSource::tell_phases(Frame& f) {
  for (; phase_ < scenario_.phases.size(); ++phase_) {
    const scenario::Phase& p = scenario_.phases[phase_];
    if (p.from / sim::kPsPerNs > f.time_ns) return;
    f.happenings.push_back({f.time_ns, "phase", p.name, {}});
  }
}

/// Waits until real time has caught up; false: the run is over for somebody's reason.
bool SimSource::keep_pace(Ps now) {
  std::unique_lock lock(mutex_);
  const auto told = [&] { return ending_ || restart_; };
  changed_.wait(lock, [&] { return !paused_ || told(); });
  if (told()) return false;
  if (pace_ != paced_with_) {
    paced_with_ = pace_;
    paced_from_ = now;
    paced_at_ = Clock::now();
  }
  const auto due = paced_at_ + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(sim::seconds(now - paced_from_) / pace_));
  if (Clock::now() > due + kLongestSilence)
    paced_with_ = 0;  // too slow to keep it: do not run after it later
  changed_.wait_until(lock, due,
                      [&] { return told() || paused_ || pace_ != paced_with_ || !strokes_.empty(); });
  const std::chrono::duration<double> every = settings_.frame_every;
  const auto interval = static_cast<Ps>(every.count() * pace_ * static_cast<double>(sim::kPsPerSecond));
  next_frame_ = now + std::max<Ps>(1, interval);
  least_frame_ = now + interval / 8;  // less time gives no rate worth showing
  if (paused_) paced_with_ = 0;
  return !told();
}

Status SimSource::act(const Action& a) {
  if (a.verb == Verb::fail || a.verb == Verb::heal) {
    if (auto planned = plan(a); !planned) return planned;
  }
  const std::lock_guard lock(mutex_);
  switch (a.verb) {
    case Verb::fail:
    case Verb::heal: break;
    case Verb::pause: paused_ = true; break;
    case Verb::resume: paused_ = false, paced_with_ = 0; break;
    case Verb::pace: pace_ = std::max(a.pace, 1e-9); break;
    case Verb::restart: restart_ = true, paused_ = false; break;
    case Verb::focus:
      if (a.plane && *a.plane >= topo_.planes()) return Error{EINVAL, "there is no such plane"};
      if (a.t0 && *a.t0 >= topo_.switches(topo::Tier::t0)) return Error{EINVAL, "there is no such T0"};
      if (a.plane) focus_.plane = *a.plane;
      if (a.t0) focus_.t0 = *a.t0;
      break;
  }
  note_action(a);
  changed_.notify_all();
  return Done{};
}

/// REQUIRES mutex_.
void SimSource::note_action(const Action& a) {
  if (a.verb != Verb::fail && a.verb != Verb::heal) return;
  std::string what = a.verb == Verb::heal ? "by hand: heal " : "by hand: break ";
  what += a.target.empty() ? "everything" : a.target;
  done_.push_back({0, "action", std::move(what), a.target});
}

Status SimSource::plan(const Action& a) {
  std::vector<sim::Fault> faults;
  const auto add = [&](const std::string& target) {
    sim::Fault f;
    f.target = target;
    f.kind = a.loss > 0 ? sim::FaultKind::lossy
             : a.silent ? sim::FaultKind::black_hole
                        : sim::FaultKind::down;
    f.amount = a.loss;
    faults.push_back(f);
  };
  if (a.target.empty() && a.verb == Verb::fail) return Error{EINVAL, "say what shall fail"};
  if (!a.target.empty()) add(a.target);
  for (topo::Plane p = 0; a.target.empty() && p < topo_.planes(); ++p) add("p" + std::to_string(p));
  auto strokes = sim::plan_faults(topo_, faults);
  if (!strokes) return strokes.error();
  const std::lock_guard lock(mutex_);
  for (const sim::Stroke& s : *strokes) {
    if (a.verb == Verb::fail) {
      strokes_.push_back(s);
    } else {
      for (const What what : {What::up, What::loss, What::rate})
        strokes_.push_back({0, s.hop, what, what == What::rate ? 1.0 : 0.0});
    }
  }
  return Done{};
}

}  // namespace mrc::view
