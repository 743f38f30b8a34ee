// The picture of the fabric that all reports together give: findings that come quickly and go slowly, their
// history, and loss and delay per link. Without I/O: time is an argument.
//
// One node's mapper feeds it with its own observations; a collector with those of many nodes.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>

#include "map/culprit.h"
#include "map/plan.h"
#include "map/settings.h"

namespace mrc::map {

struct Finding {
  Culprit culprit;
  Time since{};             // named
  Time last_sign{};         // the last time that probes said so
  std::uint32_t times = 1;  // named so often, and not forgotten between
};

enum class EventKind : std::uint8_t { found, changed, cleared };
const char* to_string(EventKind k);
struct Event {
  Time at{};
  EventKind kind = EventKind::found;
  Culprit culprit;
};

/// Loss and least delay of one cable, there and back, less what lies before it.
struct LinkReport {
  topo::LinkId link;
  double loss = 0;
  Duration rtt{0};
  std::uint32_t probes = 0;  // that it is made of
  std::uint32_t witnesses = 0;
};

class Survey {
 public:
  /// `topo` must outlive it.
  Survey(const topo::Topology& topo, const Settings& settings) : topo_(topo), settings_(settings) {}

  /// All that a node has to say now; what it said before is replaced.
  void observe(Time now, HostId host, const std::vector<Observation>& observations);
  /// Judges. True when the findings have changed.
  bool advance(Time now);

  const std::vector<Finding>& findings() const { return findings_; }
  const std::deque<Event>& history() const { return history_; }
  std::uint64_t events() const { return events_; }  // ever; history keeps the last of them
  /// By link number; links that nobody probes are left out.
  std::vector<LinkReport> links() const;
  /// What may be wrong and is no finding yet: named, with its time to settle still running, or links that
  /// lose more than they may, by too few probes to say so. None: whatever links() shows above it is found.
  std::vector<Culprit> suspects() const;

 private:
  struct Report {
    Time at{};
    std::vector<Observation> observations;
  };
  struct Past {
    Time cleared{};
    std::uint32_t times = 0;
  };
  using Thing = std::pair<std::uint32_t, std::uint32_t>;  // of a culprit: what, and its number
  Thing thing(const Culprit& c) const;
  std::vector<Culprit> judge(Time now);
  bool take(Time now, const Culprit& c);
  bool ready(Time now, const Culprit& c);
  Duration hold(const Finding& f) const;
  bool replaced(const Finding& f, const std::vector<Culprit>& now_named) const;
  bool clear_old(Time now, const std::vector<Culprit>& named);
  void record(Time now, EventKind kind, const Culprit& c);
  using Chosen = std::function<bool(HostId, const ProbeName&)>;
  std::vector<LinkReport> links_by(const Chosen& chosen) const;
  bool meets(HostId host, const ProbeName& name, const std::vector<Culprit>& known) const;

  const topo::Topology& topo_;
  Settings settings_;
  std::map<std::uint32_t, Report> reports_;  // by host
  std::vector<Finding> findings_;
  std::vector<Culprit> named_;     // by the last judgement
  std::map<Thing, Time> waiting_;  // named, but not settled, since
  std::map<Thing, Past> past_;
  std::deque<Event> history_;
  std::uint64_t events_ = 0;
};

}  // namespace mrc::map
