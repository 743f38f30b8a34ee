// A fabric in virtual time for the mapper's tests: every hop loses a share, every host runs an agent, and one
// survey hears all of them (or one of them only).
#pragma once

#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>

#include "base/prng.h"
#include "map/agent.h"
#include "map/survey.h"

namespace mrc::map {

class World {
 public:
  explicit World(const topo::Spec& spec, std::optional<HostId> only = {}, std::uint64_t seed = 1)
      : topo(*topo::Topology::make(spec)), survey(topo, settings), prng(seed), loss(topo.links() * 2, 0.0) {
    for (std::uint32_t h = 0; h < topo.hosts(); ++h) {
      if (only && HostId(h) != *only) continue;
      agents.push_back(std::make_unique<Agent>(topo, HostId(h), settings));
    }
  }

  void set_link(topo::LinkId l, double p) {
    set_hop({l, topo::Direction::up}, p);
    set_hop({l, topo::Direction::down}, p);
  }
  void set_hop(topo::Hop h, double p) { loss[h.index()] = p; }
  void set_switch(topo::Node n, double p) {
    for (std::uint32_t port = 0; port < topo.ports(n); ++port) {
      if (const auto l = topo.link_at({n, port})) set_link(*l, p);
    }
  }
  void set(const std::string& name, double p) {
    if (const auto l = topo.find_link(name)) return set_link(*l, p);
    if (const auto h = topo.find_hop(name)) return set_hop(*h, p);
    set_switch(*topo.find_node(name), p);
  }

  void run(Duration time) {
    const Time end = now + time;
    while (now < end) {
      Time next = end;
      for (const auto& a : agents) next = std::min(next, std::max(a->next(), now));
      now = next;
      for (const auto& a : agents) {
        if (a->next() <= now) turn(*a);
      }
      survey.advance(now);
    }
  }

  std::set<std::string> named(std::optional<Fault> fault = {}) const {
    std::set<std::string> out;
    for (const Finding& f : survey.findings()) {
      if (!fault || f.culprit.fault == *fault) out.insert(name(topo, f.culprit));
    }
    return out;
  }

  Settings settings;
  topo::Topology topo;
  Survey survey;
  Prng prng;
  std::vector<double> loss;          // by hop
  std::set<std::uint32_t> sleeping;  // hosts that relay nothing
  std::vector<std::unique_ptr<Agent>> agents;
  Time now{Time(1s)};

 private:
  struct Reply {
    Time at;
    ProbeName name;
    std::uint32_t sequence;
  };
  bool passes(HostId host, const Probe& p) {
    const auto way = itinerary(topo, host, p.name);
    for (int i = 0; i + 1 < way->count; ++i) {
      if (sleeping.contains(way->legs[i].to.value)) return false;
    }
    for (const topo::Hop h : hops(topo, *way)) {
      if (prng.chance(loss[h.index()])) return false;
    }
    return true;
  }
  void turn(Agent& a) {
    auto& inbox = inboxes[a.host().value];
    for (const Reply& r : inbox) a.handle_reply(r.at, r.name, r.sequence);
    inbox.clear();
    a.advance(now);
    while (const auto p = a.poll_probe(now)) {
      const auto way = itinerary(topo, a.host(), p->name);
      if (passes(a.host(), *p)) inbox.push_back({now + 2us * hops(topo, *way).size(), p->name, p->sequence});
    }
    survey.observe(now, a.host(), a.observations());
  }
  std::map<std::uint32_t, std::vector<Reply>> inboxes;
};

}  // namespace mrc::map
