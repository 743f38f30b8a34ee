// `mrc topo describe` and `mrc topo compare`: numbers for people and for programs.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/topo_verbs.h"
#include "topo/summary.h"

namespace mrc::tools {
namespace {

using Json = nlohmann::ordered_json;
using topo::Tier;

Json tier_json(const topo::Topology& t, Tier tier) {
  const auto first = topo::switch_node(0, tier, 0);
  const auto last = topo::switch_node(t.planes() - 1, tier, t.switches(tier) - 1);
  return {{"per_plane", t.switches(tier)},
          {"ports", t.ports(first)},
          {"down", t.downlinks(first)},
          {"first_sid", to_string(t.sid(first))},
          {"last_sid", to_string(t.sid(last))}};
}

Json link_json(const topo::LinkSpec& l, std::uint64_t per_plane) {
  return {{"per_plane", per_plane},
          {"rate", topo::rate_text(l.bits_per_second)},
          {"delay", topo::delay_text(l.delay)}};
}

Json description(const topo::Topology& t) {
  const topo::Spec& s = t.spec();
  const topo::Summary sum = topo::summarize(t);
  const std::uint64_t bdp = sum.nic_bits_per_second / t.planes() / 8 *
                            static_cast<std::uint64_t>(sum.base_rtt.count()) / 1'000'000'000;
  Json j = {{"hosts", t.hosts()},
            {"planes", t.planes()},
            {"tiers", t.tiers()},
            {"switches", t.switches()},
            {"links", t.links()},
            {"nic_rate", topo::rate_text(sum.nic_bits_per_second)},
            {"bisection", topo::rate_text(sum.bisection_bits_per_second)},
            {"oversubscription", sum.oversubscription},
            {"base_rtt_ns", sum.base_rtt.count()},
            {"bdp_bytes_per_plane", bdp},
            {"ways_between_far_hosts", sum.ways},
            {"ev_bits", t.path_bits()},
            {"first_ev", t.ev_at(0).value},
            {"usids_per_carrier", t.usids_per_carrier()},
            {"locator", to_string(s.locator)},
            {"host_prefix", to_string(s.host_prefix)},
            {"first_address", to_string(t.address(topo::HostId(0), 0))},
            {"last_address", to_string(t.address(topo::HostId(t.hosts() - 1), t.planes() - 1))}};
  j["t0"] = tier_json(t, Tier::t0);
  if (t.tiers() >= 2) j["t1"] = tier_json(t, Tier::t1);
  if (t.tiers() == 3) j["t2"] = tier_json(t, Tier::t2);
  j["host_links"] = link_json(s.host_link, t.hosts());
  if (t.tiers() >= 2) j["t0_t1_links"] = link_json(s.t0_t1, std::uint64_t{t.switches(Tier::t0)} * s.t1);
  if (t.tiers() == 3) j["t1_t2_links"] = link_json(s.t1_t2, std::uint64_t{t.switches(Tier::t1)} * s.t2);
  return j;
}

void print_value(const std::string& key, const Json& value) {
  if (value.is_object()) {
    std::printf("%-24s", key.c_str());
    for (const auto& [name, inner] : value.items()) {
      std::printf(" %s %s", name.c_str(),
                  inner.is_string() ? inner.get<std::string>().c_str() : inner.dump().c_str());
    }
    std::printf("\n");
    return;
  }
  std::printf("%-24s %s\n", key.c_str(),
              value.is_string() ? value.get<std::string>().c_str() : value.dump().c_str());
}

Result<topo::Topology> from_file(const std::string& path) {
  auto spec = topo::read_spec(path);
  if (!spec) return spec.error();
  return topo::Topology::make(*spec);
}

struct Pair {
  topo::Summary a, b;
  std::string a_name, b_name;
};

Result<Pair> compared(const CompareQuery& q) {
  if (q.files.size() == 2) {
    const auto a = from_file(q.files[0]), b = from_file(q.files[1]);
    if (!a) return a.error();
    if (!b) return b.error();
    return Pair{topo::summarize(*a), topo::summarize(*b), q.files[0], q.files[1]};
  }
  const auto nic = topo::parse_rate(q.nic);
  if (!nic) return Error{EINVAL, "--nic " + nic.error().what};
  if (q.switch_ports < 2 || q.switch_ports % 2 != 0 || q.planes < 1)
    return Error{EINVAL,
                 "--switch-ports must be even, half of them lead down and half up; --planes at least 1"};
  const auto a = topo::Topology::make(topo::full_two_tiers(q.switch_ports, q.planes, *nic));
  if (!a) return Error{EINVAL, "two tiers: " + a.error().what};
  const auto b = topo::Topology::make(topo::full_three_tiers(q.switch_ports, *nic));
  if (!b) return Error{EINVAL, "three tiers: " + b.error().what};
  return Pair{topo::summarize(*a), topo::summarize(*b), std::to_string(q.planes) + " planes, 2 tiers",
              "1 plane, 3 tiers"};
}

}  // namespace

Status print_description(const topo::Topology& t, bool json) {
  const Json j = description(t);
  if (json) {
    std::printf("%s\n", j.dump().c_str());
    return Done{};
  }
  for (const auto& [key, value] : j.items()) print_value(key, value);
  return Done{};
}

Status print_comparison(const CompareQuery& q) {
  const auto pair = compared(q);
  if (!pair) return pair.error();
  const auto rows = topo::compare(pair->a, pair->b);
  if (q.json) {
    Json j = Json::array();
    for (const auto& r : rows) {
      j.push_back({{"what", r.what}, {"a", r.a}, {"b", r.b}});
      if (r.ratio != 0) j.back()["a_over_b"] = r.ratio;
    }
    std::printf("%s\n", Json{{"a", pair->a_name}, {"b", pair->b_name}, {"rows", j}}.dump().c_str());
    return Done{};
  }
  std::printf("%-54s %18s %18s %8s\n", "", pair->a_name.c_str(), pair->b_name.c_str(), "ratio");
  for (const auto& r : rows) {
    std::printf("%-54s %18s %18s", r.what.c_str(), r.a.c_str(), r.b.c_str());
    std::printf(r.ratio != 0 ? " %8.3f\n" : "\n", r.ratio);
  }
  return Done{};
}

}  // namespace mrc::tools
