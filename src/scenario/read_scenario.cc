// From TOML to a Scenario: the top level, and the small sections.
#include <cerrno>
#include <filesystem>

#include "scenario/document.h"
#include "scenario/sections.h"

namespace mrc::scenario {
namespace {

/// `where` = { "path" = value }: all of them stand there.
bool holds(const toml::table& where, const toml::table& root) {
  for (const auto& [path, wanted] : where) {
    const toml::node* there = node_at(root, path.str());
    if (there == nullptr || toml_text(*there) != toml_text(wanted)) return false;
  }
  return true;
}

constexpr const char* kProtocol = "transport.protocol";

/// A sweep, a baseline or --set runs the same file over another transport.
bool changes_protocol(const toml::table& root, const std::vector<Origin>& origins) {
  for (const Origin& origin : origins) {
    if (origin.path == kProtocol) return true;
  }
  for (const char* section : {"sweep", "quick", "baseline"}) {
    const toml::table* changes = root[section].as_table();
    if (changes != nullptr && changes->contains(kProtocol)) return true;
  }
  return false;
}

/// What the file's transport would not hear: who wrote it believes that it is measured.
void check_effects(const toml::table& root, const Scenario& s, Complaint& complaint) {
  constexpr const char* kOfMrc[] = {
      "transport.evs",        "transport.evs_by",       "transport.sack_bytes",
      "transport.spray_unit", "transport.skip_on_mark", "transport.skip_on_trim",
      "transport.flowlet",    "transport.hints",        "transport.wire",
      "queues.trim",          "queues.trim_bytes"};
  if (s.world.hosts.transport == sim::Transport::mrc) {
    if (const toml::node* roce = node_at(root, "transport.roce"))
      complaint.note(*roce, "transport.roce", "transport.roce",
                     "has no effect on MRC; say transport.protocol = \"roce\", or leave it out");
    return;
  }
  for (const char* path : kOfMrc) {
    if (const toml::node* node = node_at(root, path))
      complaint.note(*node, path, path, "has no effect on RoCEv2; leave it out");
  }
}

void check_whole(TableReader& r, const Scenario& s) {
  if (s.jobs.empty())
    r.complain("has no [[job]]; say what runs, such as [[job]] with kind = \"permutation\"");
  for (const JobSpec& job : s.jobs) {
    for (const sim::Stream& stream : job.streams) {
      if (stream.messages == 0 && s.world.end == sim::kNeverPs)
        return r.complain("has streams without end; give them 'messages', or say [limits] time = \"10ms\"");
    }
  }
}

void read_all(TableReader& r, const toml::table& root, Scenario& s) {
  r.text("name", s.name);
  r.text("description", s.description);
  r.number("seed", s.world.hosts.seed, 0, INT64_MAX);
  r.number("threads", s.world.threads, 1, 255);
  if (!r.has("topology")) r.complain("has no [topology]; it says planes, t0, t1, hosts_per_t0, or a file");
  r.table("topology", [&](TableReader& in) { read_topology(in, s); });
  r.table("transport", [&](TableReader& in) { read_transport(in, s); });
  r.table("queues", [&](TableReader& in) { read_queues(in, s); });
  r.table("limits", [&](TableReader& in) { read_limits(in, s); });
  r.tables("job", [&](TableReader& in, std::size_t i) { read_job(in, i, s); });
  r.tables("fault", [&](TableReader& in, std::size_t) { read_fault(in, s); });
  r.table("random_faults", [&](TableReader& in) { read_random_faults(in, s); });
  r.tables("phase", [&](TableReader& in, std::size_t) { read_phase(in, s); });
  r.tables("expect", [&](TableReader& in, std::size_t) { read_expectation(in, root, s); });
  r.table("output", [&](TableReader& in) { read_output(in, s); });
  r.table("published", [&](TableReader& in) { read_published(in, s); });
  for (const char* key : {"sweep", "quick", "baseline"}) r.leave(key);
}

}  // namespace

std::string beside(const Scenario& s, const std::string& path) {
  const std::filesystem::path p(path);
  return p.is_absolute() ? path : (std::filesystem::path(s.file).parent_path() / p).string();
}

void read_phase(TableReader& r, Scenario& s) {
  Phase p;
  r.text("name", p.name);
  r.time("from", p.from);
  r.time("to", p.to, 1);
  if (p.name.empty()) r.complain("has no 'name'; its goodput is the figure phases.NAME.goodput_gbps");
  if (p.name.find('.') != std::string::npos) r.complain("name", "must not have a dot in it");
  for (const Phase& other : s.phases) {
    if (other.name == p.name) r.complain("name", "is that of another phase; give each its own");
  }
  if (p.to <= p.from) r.complain("ends before it begins; 'to' must be later than 'from'");
  s.phases.push_back(std::move(p));
}

void read_limits(TableReader& r, Scenario& s) {
  r.time("time", s.world.end, 1);
  sim::Ps wall = 0;
  r.time("wall", wall, 1);
  s.wall_seconds = sim::seconds(wall);
}

void read_output(TableReader& r, Scenario& s) {
  Outputs& o = s.outputs;
  for (const auto& [key, file] :
       {std::pair("json", &o.json), std::pair("flows", &o.flows), std::pair("series", &o.series),
        std::pair("links", &o.links), std::pair("report", &o.report), std::pair("table", &o.table)}) {
    r.text(key, *file);
  }
  r.strings("figures", o.figures);
  r.time("interval", o.interval, 1);
}

void read_published(TableReader& r, Scenario& s) {
  Published p;
  r.text("id", p.id);
  r.text("setting", p.setting);
  r.text("mrc", p.mrc);
  r.text("roce", p.roce);
  r.text("no_baseline", p.no_baseline);
  r.text("figure", p.figure);
  r.text("unit", p.unit);
  r.real("scale", p.scale, 1e-12, 1e12);
  s.published = std::move(p);
}

void read_expectation(TableReader& r, const toml::table& root, Scenario& s) {
  Expectation e;
  e.place = r.place();
  r.text("figure", e.figure);
  constexpr double kAny = 1e300;
  double value = 0;
  if (r.has("min")) r.real("min", value, -kAny, kAny), e.min = value;
  if (r.has("max")) r.real("max", value, -kAny, kAny), e.max = value;
  r.leave("min");
  r.leave("max");
  bool wanted = true;
  r.table("where", [&](TableReader& in) {
    for (const auto& [path, value_there] : in.raw()) in.leave(std::string(path.str()).c_str());
    wanted = holds(in.raw(), root);
  });
  if (e.figure.empty()) r.complain("has no 'figure'; name one of the result, such as \"completion_us.max\"");
  if (!e.min && !e.max) r.complain("has neither 'min' nor 'max'");
  if (e.min && e.max && *e.min > *e.max) r.complain("min", "is above 'max'");
  if (wanted) s.expectations.push_back(std::move(e));
}

Result<Scenario> Document::scenario() const {
  Scenario s;
  s.file = file_;
  s.name = std::filesystem::path(file_).stem().string();
  Complaint complaint{file_, "", origins_};
  TableReader reader(root_, "", complaint);
  read_all(reader, root_, s);
  reader.finish();
  if (complaint.what.empty()) check_whole(reader, s);
  if (!changes_protocol(root_, origins_)) check_effects(root_, s, complaint);
  if (!complaint.what.empty()) return Error{EINVAL, complaint.what};
  return s;
}

}  // namespace mrc::scenario
