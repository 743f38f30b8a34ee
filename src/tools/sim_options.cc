#include "tools/sim_options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>

#include "sim/pattern.h"
#include "sim/world.h"
#include "tools/topology_options.h"

namespace mrc::tools {
namespace {

using scenario::Document;

constexpr const char* kNoFile = "options";  // where a file's name would stand

enum class As : std::uint8_t {
  value,  // a number, or a size
  text,
  off,  // a flag that switches off
  on,
};

struct Knob {
  const char* option;
  const char* path;
  As as;
  const char* help;
  std::string otherwise = "";  // what help shows
  const char* group = "Options";
};

std::string shown(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", v);
  return text;
}

std::vector<Knob> load_knobs() {
  return {{"--pattern", "job.0.kind", As::text,
           "traffic without a file: permutation, incast, pairwise, ring_allreduce, ..."},
          {"--cm", "job.0.file", As::text, "traffic matrix of htsim"},
          {"--topo", "topology.file", As::text, "topology of htsim; the options of a fabric change it"},
          {"--ranks", "job.0.ranks", As::value, "hosts that take part; 0: all", "0"},
          {"--bytes", "job.0.bytes", As::value, "per rank: one message, or what a collective works on",
           std::to_string(sim::Pattern{}.bytes)},
          {"--iterations", "job.0.iterations", As::value, "how often", "1"}};
}

std::vector<Knob> world_knobs() {
  const sim::WorldSettings w;
  return {
      {"--evs", "transport.evs", As::value, "EVs per QP", std::to_string(w.hosts.evs)},
      {"--pmtu", "transport.pmtu", As::value, "payload bytes per packet", std::to_string(w.hosts.path_mtu)},
      {"--seed", "seed", As::value, "one seed, one result", std::to_string(w.hosts.seed)},
      {"--threads", "threads", As::value, "threads", std::to_string(w.threads)},
      {"--queue-bdp", "queues.data_bdp", As::value, "room for data at a port, in BDPs",
       shown(w.queues.data_bdp)},
      {"--ecn-low", "queues.ecn_low", As::value, "marks begin at this part of the data room",
       shown(w.queues.ecn_low)},
      {"--ecn-high", "queues.ecn_high", As::value, "and hit every frame at this part",
       shown(w.queues.ecn_high)},
      {"--sack-bytes", "transport.sack_bytes", As::value, "a SACK at least every so many bytes",
       std::to_string(w.hosts.responder.sack_bytes)},
      {"--spray-unit", "transport.spray_unit", As::value, "consecutive packets on one EV",
       std::to_string(w.hosts.paths.spray_unit)},
      {"--trim-bytes", "queues.trim_bytes", As::value, "what a trimmed frame keeps, on the wire",
       std::to_string(w.queues.trim_bytes)},
      {"--no-trim", "queues.trim", As::off, "switches drop instead of trimming"},
  };
}

/// Baselines, and MRC with parts switched off.
std::vector<Knob> transport_knobs() {
  std::vector<Knob> knobs = {
      {"--transport", "transport.protocol", As::text,
       "mrc, or the baseline roce: RoCEv2 with ECMP, go-back-N, DCQCN, PFC"},
      {"--roce-qps", "transport.roce.qps", As::value, "QPs that a message is spread over"},
      {"--no-pfc", "transport.roce.pfc", As::off, "switches drop instead of pausing"},
      {"--no-dcqcn", "transport.roce.dcqcn", As::off, "senders know no congestion control"},
      {"--no-ecn-skip", "transport.skip_on_mark", As::off, "marks do not move packets to other EVs"},
      {"--no-trim-skip", "transport.skip_on_trim", As::off,
       "trims do not either: both together spray obliviously"},
      {"--flowlet-ns", "transport.flowlet", As::text, "keep an EV until a pause of so many ns"},
      {"--hint", "transport.hints.remote_recv_peers", As::value,
       "senders per receiver, as the application would say"},
      {"--wire", "transport.wire", As::on,
       "packets travel as bytes, through the codec: the same results, slower"}};
  for (Knob& k : knobs) k.group = "Transport";
  return knobs;
}

std::vector<Knob> fabric_knobs() {
  return {{"--file", "topology.file", As::text, ""},
          {"--planes", "topology.planes", As::value, ""},
          {"--tiers", "topology.tiers", As::value, ""},
          {"--pods", "topology.pods", As::value, ""},
          {"--t0", "topology.t0", As::value, ""},
          {"--t1", "topology.t1", As::value, ""},
          {"--t2", "topology.t2", As::value, ""},
          {"--hosts-per-t0", "topology.hosts_per_t0", As::value, ""},
          {"--hosts", "topology.hosts", As::value, ""},
          {"--radix", "topology.radix", As::value, ""},
          {"--rate", "topology.rate", As::text, ""},
          {"--delay", "topology.delay", As::text, ""}};
}

std::string quoted(const std::string& text) { return scenario::toml_text(toml::value<std::string>(text)); }

std::string value_of(const Knob& k, const CLI::Option& option) {
  if (k.as == As::off) return "false";
  if (k.as == As::on) return "true";
  const std::string& word = option.results().back();
  if (std::string_view(k.option) == "--flowlet-ns") return quoted(word + "ns");
  return k.as == As::text ? quoted(word) : word;
}

}  // namespace

void add_sim_options(CLI::App& app) {
  auto fabric = add_topology_options(app);
  for (const auto& knobs : {load_knobs(), world_knobs(), transport_knobs()}) {
    for (const Knob& k : knobs) {
      const bool flag = k.as == As::off || k.as == As::on;
      CLI::Option* const option = flag ? app.add_flag(k.option, k.help)
                                       : app.add_option_function<std::string>(
                                             k.option, [fabric](const std::string&) {}, k.help);
      option->group(k.group);
      if (k.as == As::value) option->type_name("NUMBER");
      if (!k.otherwise.empty()) option->default_str(k.otherwise);
    }
  }
  app.get_option("--pattern")->excludes("--cm");
  app.get_option("--topo")->excludes("--file");
}

std::vector<Given> given_options(const CLI::App& app) {
  std::vector<Given> out;
  for (const auto& knobs : {load_knobs(), fabric_knobs(), world_knobs(), transport_knobs()}) {
    for (const Knob& k : knobs) {
      if (app.count(k.option) == 0) continue;
      const CLI::Option& option = *app.get_option(k.option);
      const bool flag = k.as == As::off || k.as == As::on;
      out.push_back({{k.path, value_of(k, option)},
                     std::string(k.option) + (flag ? "" : " " + option.results().back())});
    }
  }
  return out;
}

namespace {

/// An option that the chosen transport would not hear.
Status check_transport(const std::vector<Given>& given) {
  constexpr std::string_view kOfMrc[] = {
      "transport.evs",          "transport.sack_bytes",   "transport.spray_unit",
      "transport.skip_on_mark", "transport.skip_on_trim", "transport.flowlet",
      "transport.hints",        "transport.wire",         "queues.trim"};
  const bool roce = std::any_of(given.begin(), given.end(), [](const Given& g) {
    return g.setting.path == "transport.protocol" && g.setting.value == quoted("roce");
  });
  for (const Given& g : given) {
    const std::string& path = g.setting.path;
    if (!roce && path.starts_with("transport.roce."))
      return Error{EINVAL, g.option + " has no effect on MRC; add --transport roce, or leave it out"};
    const bool of_mrc = std::any_of(std::begin(kOfMrc), std::end(kOfMrc),
                                    [&](std::string_view p) { return path.starts_with(p); });
    if (roce && of_mrc) return Error{EINVAL, g.option + " has no effect on RoCEv2; leave it out"};
  }
  return Done{};
}

}  // namespace

Result<Document> document_of(const std::vector<Given>& given) {
  const auto is = [&](const char* path) { return [path](const Given& g) { return g.setting.path == path; }; };
  const auto cm = std::find_if(given.begin(), given.end(), is("job.0.file"));
  const auto pattern = std::find_if(given.begin(), given.end(), is("job.0.kind"));
  if (cm == given.end() && pattern == given.end())
    return Error{EINVAL, "no traffic; give a scenario, --pattern NAME or --cm FILE"};
  if (auto ok = check_transport(given); !ok) return ok.error();
  auto document = Document::parse("[topology]\n[[job]]\nkind = \"cm\"\n", kNoFile);
  for (const Given& g : given) {
    if (auto done = document->set(g.setting, g.option); !done) return done.error();
  }
  const std::string& named = (cm != given.end() ? cm : pattern)->option;
  const std::string name = std::filesystem::path(named.substr(named.find(' ') + 1)).stem().string();
  if (auto done = document->set({"name", quoted(name)}, named); !done) return done.error();
  return document;
}

std::string without_file(const std::string& what) {
  return what.starts_with(kNoFile) ? what.substr(what.find(": ") + 2) : what;
}

}  // namespace mrc::tools
