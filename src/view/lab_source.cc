#include "view/lab_source.h"

#include <nlohmann/json.hpp>

namespace mrc::view {
namespace {

using nlohmann::json;
using Verb = Action::Verb;
using Kind = HopFault::Kind;

double rate_of(std::uint64_t bytes, std::int64_t span_ns) {
  return span_ns > 0 ? static_cast<double>(bytes) * 8e9 / static_cast<double>(span_ns) : 0;
}

}  // namespace

Result<std::unique_ptr<LabSource>> LabSource::attach(const std::string& name,
                                                     std::chrono::milliseconds every) {
  auto lab = lab::Lab::find(name);
  if (!lab) return lab.error();
  const auto toml = lab->topology();
  if (!toml) return toml.error();
  const auto spec = topo::parse_spec(*toml, "the lab's topology");
  if (!spec) return spec.error();
  const auto topo = topo::Topology::make(*spec);
  if (!topo) return topo.error();
  std::unique_ptr<LabSource> out(new LabSource(std::move(*lab), *topo, every));
  auto counters = LabCounters::open(name, out->topo_);
  if (!counters) return counters.error();
  out->counters_.emplace(std::move(*counters));
  auto nodes = LabNodes::open(name, out->topo_);
  if (!nodes) return nodes.error();
  out->nodes_ = std::move(*nodes);
  out->fabric_ = {"lab " + name, "lab", topo->spec(), true, false};
  return out;
}

LabSource::~LabSource() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LabSource::start(Sink sink) {
  sink_ = std::move(sink);
  nodes_->start();
  thread_ = std::thread([this] { work(); });
}

void LabSource::work() {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  auto last = began;
  for (std::uint64_t number = 0;; ++number) {
    Frame f;
    const auto now = Clock::now();
    f.number = number;
    f.time_ns = std::chrono::nanoseconds(now - began).count();
    f.span_ns = std::chrono::nanoseconds(now - last).count();
    last = now;
    f.done = !take(f);
    sink_(to_json(f, topo_));
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, now + every_, [&] { return ending_; });
    if (ending_ || f.done) return;
  }
}

/// False: the lab is gone.
bool LabSource::take(Frame& f) {
  std::vector<HopReading> now;
  if (!counters_->read(now)) return false;
  if (before_.empty()) before_ = now;
  std::swap(before_, now);  // before_ is the newest from here on; `now` the one before
  f.load.resize(before_.size());
  std::vector<std::uint64_t> planes(topo_.planes());
  for (std::uint32_t i = 0; i < before_.size(); ++i) {
    const topo::Hop hop = topo::hop_at(i);
    const std::uint64_t bytes = before_[i].bytes - std::min(before_[i].bytes, now[i].bytes);
    const std::uint64_t dropped = before_[i].dropped - std::min(before_[i].dropped, now[i].dropped);
    f.load[i] =
        to_level(rate_of(bytes, f.span_ns) / static_cast<double>(topo_.link_spec(hop.link).bits_per_second));
    if (dropped > 0) f.lost.push_back({i, static_cast<std::uint32_t>(dropped)});
    lost_ += dropped;
    if (topo_.kind(hop.link) != topo::LinkKind::host_t0) continue;
    if (hop.direction == topo::Direction::down) planes[topo_.plane(hop.link)] += bytes;
    if (hop.direction == topo::Direction::up)
      packets_ += before_[i].packets - std::min(before_[i].packets, now[i].packets);
  }
  for (const std::uint64_t bytes : planes) {
    f.plane_rate.push_back(rate_of(bytes, f.span_ns));
    f.totals.goodput += f.plane_rate.back();
    delivered_ += bytes;
  }
  f.totals.delivered = delivered_;
  nodes_->take(f);
  f.totals.packets = packets_;  // those of the wires, whoever sent them
  f.totals.lost = lost_;
  const std::lock_guard lock(mutex_);
  const auto status = lab_.status();
  if (!status) return false;
  look_at_faults(*status, f);
  tell_changes(f);
  return true;
}

// A cable end that is down takes both directions; loss bites what arrives there, a rate what leaves.
void LabSource::look_at_faults(const std::string& status, Frame& f) {
  const json s = json::parse(status, nullptr, false);
  if (!s.is_object()) return;
  for (const json& end : s.value("faults", json::array())) {
    const auto link = topo_.find_link(end.value("link", std::string()));
    if (!link) continue;
    const topo::Ends ends = topo_.ends(*link);
    const bool lower = topo_.name(ends.lower.node) == end.value("node", std::string());
    const std::uint32_t up = link->value * 2, from_here = lower ? up : up + 1;
    const double loss = end.value("loss", 0.0);
    const auto rate = end.value("bits_per_second", std::uint64_t{0});
    if (end.value("down", false)) {
      f.faults.push_back({up, Kind::down});
      f.faults.push_back({up + 1, Kind::down});
    } else if (loss > 0) {
      f.faults.push_back({from_here ^ 1, loss >= 1 ? Kind::black_hole : Kind::loss, loss});
    } else if (rate > 0) {
      const auto nominal = static_cast<double>(topo_.link_spec(*link).bits_per_second);
      f.faults.push_back({from_here, Kind::rate, static_cast<double>(rate) / nominal});
    }
  }
}

/// REQUIRES mutex_.
void LabSource::tell_changes(Frame& f) {
  std::set<std::uint32_t> broken;
  for (const HopFault& fault : f.faults) broken.insert(fault.hop / 2);
  const auto tell = [&](std::uint32_t link, const char* what) {
    const std::string name = topo_.name(topo::LinkId(link));
    f.happenings.push_back({f.time_ns, "link", name + ": " + what, name});
  };
  for (const std::uint32_t link : broken) {
    if (!broken_.contains(link)) tell(link, "broken");
  }
  for (const std::uint32_t link : broken_) {
    if (!broken.contains(link)) tell(link, "works again");
  }
  broken_ = std::move(broken);
  for (Happening& h : done_) {
    h.time_ns = f.time_ns;
    f.happenings.push_back(std::move(h));
  }
  done_.clear();
}

Status LabSource::act(const Action& a) {
  const std::lock_guard lock(mutex_);
  switch (a.verb) {
    case Verb::fail: {
      if (a.target.empty()) return Error{EINVAL, "say what shall fail"};
      const Status done = a.loss > 0 ? lab_.drop(a.target, a.loss) : lab_.fail(a.target, a.silent);
      if (done) done_.push_back({0, "action", "by hand: break " + a.target, a.target});
      return done;
    }
    case Verb::heal: {
      const Status done = lab_.heal(a.target);
      if (done)
        done_.push_back(
            {0, "action", "by hand: heal " + (a.target.empty() ? "everything" : a.target), a.target});
      return done;
    }
    case Verb::focus: return Done{};
    default: return Error{EINVAL, "a lab runs in real time: it has no pace, no pause and no beginning"};
  }
}

}  // namespace mrc::view
