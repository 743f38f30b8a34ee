// [topology]: the fabric, in numbers or by a file.
#include "scenario/sections.h"
#include "sim/text_input.h"
#include "sim/topo_file.h"

namespace mrc::scenario {
namespace {

/// htsim's files are words and numbers; TOML never begins with a word and no '='.
bool is_htsim(const std::string& path) {
  if (path.ends_with(".topo")) return true;
  const auto text = sim::read_text(path);
  if (!text) return false;
  const auto lines = sim::words_by_line(*text);
  return !lines.empty() && lines[0].words.size() == 2 && sim::parse_number(lines[0].words[1]);
}

Result<sim::TopoFile> fabric_from(const std::string& path) {
  if (is_htsim(path)) return sim::read_topo(path);
  auto spec = topo::read_spec(path);
  if (!spec) return spec.error();
  return sim::TopoFile{*spec, {}};
}

void read_link(TableReader& r, topo::LinkSpec& link) {
  r.parsed("rate", link.bits_per_second, topo::parse_rate);
  r.parsed("delay", link.delay, topo::parse_delay);
}

void read_file(TableReader& r, Scenario& s) {
  std::string file;
  r.text("file", file);
  if (file.empty()) return;
  auto fabric = fabric_from(beside(s, file));
  if (!fabric) return r.complain("file", "can not be used: " + fabric.error().what);
  s.topology = fabric->spec;
  s.topology_file = file;
  s.world.queues.rooms = fabric->queues;
}

}  // namespace

void read_topology(TableReader& r, Scenario& s) {
  s.topology_place = r.place();
  read_file(r, s);
  topo::Spec& t = s.topology;
  constexpr std::uint64_t kMost = 1 << 24;
  r.number("planes", t.planes, 1, kMost);
  r.number("tiers", t.tiers, 1, 3);
  r.number("pods", t.pods, 1, kMost);
  r.number("t0", t.t0, 1, kMost);
  r.number("t1", t.t1, 0, kMost);
  r.number("t2", t.t2, 0, kMost);
  r.number("hosts_per_t0", t.hosts_per_t0, 1, kMost);
  r.number("hosts", t.hosts, 0, kMost);
  r.number("radix", t.radix, 0, kMost);
  r.parsed("switch_delay", t.switch_delay, topo::parse_delay);
  topo::LinkSpec all = t.host_link;
  read_link(r, all);  // rate and delay of every link
  for (topo::LinkSpec* link : {&t.host_link, &t.t0_t1, &t.t1_t2}) {
    if (r.has("rate")) link->bits_per_second = all.bits_per_second;
    if (r.has("delay")) link->delay = all.delay;
  }
  r.table("links", [&](TableReader& in) {
    in.table("host", [&](TableReader& l) { read_link(l, t.host_link); });
    in.table("t0_t1", [&](TableReader& l) { read_link(l, t.t0_t1); });
    in.table("t1_t2", [&](TableReader& l) { read_link(l, t.t1_t2); });
  });
}

}  // namespace mrc::scenario
