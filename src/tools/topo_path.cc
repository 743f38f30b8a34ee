// `mrc topo path` and `mrc topo touched`: from EVs to links and from links to EVs.
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/text.h"
#include "tools/topo_verbs.h"

namespace mrc::tools {
namespace {

using Json = nlohmann::ordered_json;
using topo::HostId;
using topo::Path;
using topo::Topology;

Result<Ev> parse_ev(const std::string& text) {
  const bool is_hex = text.starts_with("0x");
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + (is_hex ? 2 : 0), end, value, is_hex ? 16 : 10);
  if (error != std::errc{} || stop != end)
    return Error{EINVAL, "--ev " + text + ": write it as 0xc003 or 49155"};
  return Ev(value);
}

Json path_json(const Topology& t, const Path& p) {
  Json switches = Json::array(), links = Json::array(), carriers = Json::array();
  for (int i = 0; i < p.switch_count; ++i) switches.push_back(t.name(p.switches[i]));
  for (int i = 0; i < p.hop_count(); ++i) links.push_back(t.name(p.hops[i]));
  const topo::Carriers c = t.carriers(t.usids(p));
  for (int i = 0; i < c.count; ++i) carriers.push_back(to_string(c.addresses[i]));
  return {{"ev", hex(t.ev(p.choice).value)},
          {"port", p.choice.plane + 1},
          {"switches", switches},
          {"links", links},
          {"carriers", carriers}};
}

void print_path(const Topology& t, const Path& p, bool json) {
  const Json j = path_json(t, p);
  if (json) {
    std::printf("%s\n", j.dump().c_str());
    return;
  }
  std::printf("ev %s  port %u  %s", hex(t.ev(p.choice).value).c_str(), p.choice.plane + 1,
              t.name(host_node(p.source)).c_str());
  for (int i = 0; i < p.switch_count; ++i) std::printf(" > %s", t.name(p.switches[i]).c_str());
  std::printf(" > %s ", t.name(host_node(p.destination)).c_str());
  for (const auto& carrier : j["carriers"]) std::printf(" %s", carrier.get<std::string>().c_str());
  std::printf("\n");
}

Result<Path> one_path(const Topology& t, HostId from, HostId to, const PathQuery& q) {
  if (!q.carrier.empty()) {
    const auto address = parse_ipv6(q.carrier);
    const auto p = address ? t.path_of(from, *address) : std::nullopt;
    if (!p || p->destination != to)
      return Error{EINVAL, q.carrier + " leads from " + q.from + " to " +
                               (p ? t.name(host_node(p->destination)) : "nowhere in this fabric")};
    return *p;
  }
  const auto ev = parse_ev(q.ev);
  if (!ev) return ev.error();
  const auto p = t.path(from, to, *ev);
  if (!p)
    return Error{EINVAL, "EV " + q.ev + " names no path here; the EVs are " + hex(t.ev_at(0).value) + " to " +
                             hex(t.ev_at(t.evs() - 1).value)};
  return *p;
}

Json touched_json(const Topology& t, const topo::EvSet& set) {
  Json j = {{"touched", !set.empty()}};
  if (set.empty()) return j;
  std::uint32_t count = 0;
  Json evs = Json::array();
  for (std::uint32_t i = 0; i < t.evs(); ++i) {
    if (!set.contains(*t.choice(t.ev_at(i)))) continue;
    ++count;
    evs.push_back(hex(t.ev_at(i).value));
  }
  j["plane"] = set.plane();
  j["count"] = count;
  j["of"] = t.evs();
  j["evs"] = evs;
  return j;
}

}  // namespace

Result<topo::EvSet> touched(const Topology& t, const TouchedQuery& q) {
  const auto link = t.find_link(q.name);
  const auto node = t.find_node(q.name);
  if (!link && (!node || node->tier == topo::Tier::host))
    return Error{ENOENT, "there is no link or switch " + q.name +
                             " in this fabric; names look like p0.t0.1, " + t.name(topo::LinkId(0)) + ", " +
                             t.name(topo::LinkId(t.links() - 1))};
  if (q.from.empty()) return link ? t.evs_through(*link) : t.evs_through(*node);
  const auto from = find_host(t, q.from), to = find_host(t, q.to);
  if (!from) return from.error();
  if (!to) return to.error();
  return link ? t.evs_through(*link, *from, *to) : t.evs_through(*node, *from, *to);
}

Result<HostId> find_host(const Topology& t, const std::string& name) {
  const auto node = t.find_node(name);
  if (!node || node->tier != topo::Tier::host)
    return Error{ENOENT, "there is no host " + name + "; hosts are h0 to h" + std::to_string(t.hosts() - 1)};
  return HostId(node->index);
}

Status print_paths(const Topology& t, const PathQuery& q) {
  const auto from = find_host(t, q.from), to = find_host(t, q.to);
  if (!from) return from.error();
  if (!to) return to.error();
  if (!q.ev.empty() || !q.carrier.empty()) {
    const auto p = one_path(t, *from, *to, q);
    if (!p) return p.error();
    print_path(t, *p, q.json);
    return Done{};
  }
  std::uint32_t printed = 0;
  for (std::uint32_t i = 0; i < t.evs() && printed < q.limit; ++i) {
    const Path p = *t.path(*from, *to, t.ev_at(i));
    if (t.ev(p.choice) != t.ev_at(i)) continue;  // another EV's path again: these two stand close together
    print_path(t, p, q.json);
    ++printed;
  }
  const std::uint32_t all = t.planes() * t.ways_per_plane(*from, *to);
  if (printed < all && !q.json) std::printf("%u of %u paths; --limit prints more\n", printed, all);
  return Done{};
}

Status print_touched(const Topology& t, const TouchedQuery& q) {
  const auto set = touched(t, q);
  if (!set) return set.error();
  const Json j = touched_json(t, *set);
  if (q.json) {
    std::printf("%s\n", j.dump().c_str());
  } else if (set->empty()) {
    std::printf("%s touches no EV between these two\n", q.name.c_str());
  } else {
    std::printf("%s touches %s of %s EVs, port %u:", q.name.c_str(), j["count"].dump().c_str(),
                j["of"].dump().c_str(), set->plane() + 1);
    for (const auto& ev : j["evs"]) std::printf(" %s", ev.get<std::string>().c_str());
    std::printf("\n");
  }
  return Done{};
}

}  // namespace mrc::tools
