#include "tools/ctl_profile_file.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include "engine/congestion_profile.h"
#include "lib/ctl_values.h"
#include "tools/ctl_names.h"

namespace mrc::tools {
namespace {

using Json = nlohmann::json;

struct Complaint {
  std::string what;
};

/// One profile's table: keys are asked for by name, and in the end nobody may be left over.
class Table {
 public:
  Table(std::string name, const Json& json) : name_(std::move(name)), json_(json) {
    if (!json.is_object()) throw Complaint{name_ + " must be a table"};
  }
  const Json* find(const char* key) {
    asked_.insert(key);
    const auto found = json_.find(key);
    return found != json_.end() ? &*found : nullptr;
  }
  template <class T>
  void number(const char* key, T& out) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if constexpr (std::is_floating_point_v<T>) {
      if (!value->is_number()) complain(key, "must be a number");
      out = value->get<T>();
    } else {
      const std::uint64_t most = std::numeric_limits<T>::max();
      if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most)
        complain(key, "must be a whole number from 0 to " + std::to_string(most));
      out = static_cast<T>(value->get<std::uint64_t>());
    }
  }
  std::string word(const char* key, const char* otherwise = nullptr) {
    const Json* value = find(key);
    if (value == nullptr && otherwise != nullptr) return otherwise;
    if (value == nullptr || !value->is_string()) complain(key, "must be there, as a string");
    return value->get<std::string>();
  }
  const Json& list(const char* key) {
    static const Json kNone = Json::array();
    const Json* value = find(key);
    if (value != nullptr && !value->is_array()) complain(key, "must be a list");
    return value != nullptr ? *value : kNone;
  }
  void finish() const {
    for (const auto& [key, value] : json_.items()) {
      if (!asked_.contains(key)) throw Complaint{name_ + ": there is no key '" + key + "'"};
    }
  }
  [[noreturn]] void complain(const char* key, const std::string& what) const {
    throw Complaint{name_ + ": " + key + " " + what};
  }

 private:
  std::string name_;
  const Json& json_;
  std::set<std::string> asked_;
};

FormatSpec read_format(std::uint64_t id, Table table) {
  FormatSpec spec{.id = id};
  const auto mode = format_mode(table.word("mode"));
  if (!mode) table.complain("mode", "must be udp, stev or srv6");
  spec.mode = *mode;
  for (const Json& width : table.list("widths")) {
    if (!width.is_number_unsigned() || width.get<std::uint64_t>() > 255)
      table.complain("widths", "are bits, 1 to 255");
    spec.fields.push_back({width.get<std::uint8_t>()});
  }
  table.finish();
  return spec;
}

mrc_ctl_ev_field read_field(Table table) {
  mrc_ctl_ev_field field{};
  table.number("width", field.width);
  table.number("init", field.init_val);
  table.number("min", field.min_val);
  table.number("max", field.max_val);
  table.number("mask", field.mask);
  table.finish();
  return field;
}

mrc_ctl_ev_op_entry read_ev(Table table) {
  mrc_ctl_ev_op_entry entry{};
  const auto bits = ev_bits(table.word("ev"));
  if (!bits) table.complain("ev", "must be the EV's bits in hex, as in \"0x1234\"");
  std::copy(bits->begin(), bits->end(), entry.ev_new.val);
  entry.ev_new.port = 1;
  table.number("port", entry.ev_new.port);
  table.finish();
  return entry;
}

EvSpec read_evs(std::uint64_t id, const std::string& name, Table table) {
  EvSpec spec{.id = id};
  const auto mode = ev_mode(table.word("mode"));
  if (!mode) table.complain("mode", "must be auto, explicit or generated");
  spec.mode = *mode;
  table.number("format", spec.format);
  table.number("min_active", spec.min_active);
  for (const Json& word : table.list("events")) {
    const auto state = word.is_string() ? ev_state(word.get<std::string>()) : std::nullopt;
    if (!state) table.complain("events", "are good, assumed_bad, denied, unknown");
    spec.events |= static_cast<int>(*state);
  }
  for (const Json& field : table.list("fields"))
    spec.fields.push_back(read_field(Table(name + ".fields", field)));
  for (const Json& ev : table.list("evs")) spec.evs.push_back(read_ev(Table(name + ".evs", ev)));
  spec.count = static_cast<std::uint32_t>(spec.evs.size());
  table.number("count", spec.count);
  if (!spec.evs.empty() && spec.count != spec.evs.size()) table.complain("count", "is not the number of evs");
  table.finish();
  if (spec.mode == MRC_CTL_EV_MODE_EXP && spec.evs.empty())
    table.complain("evs", "must be there: an explicit profile lists its EVs");
  if (spec.count == 0) table.complain("count", "must be there: how many EVs");
  return spec;
}

CcSpec read_cc(std::uint64_t id, Table table) {
  CcSpec spec{.id = id};
  const std::string algorithm = table.word("algorithm");
  if (algorithm != "off") spec.algorithm = algorithm;
  if (!engine::cc_algorithm(spec.algorithm.empty() ? nullptr : spec.algorithm.c_str()))
    table.complain("algorithm",
                   std::string("must be ") + engine::kNsccName + ", " + engine::kConstantName + " or off");
  mrc_ctl_cc_nscc_cfg& c = spec.config =
      lib::from_nscc(engine::default_nscc({}));  // what is not said is as published
  table.number("disable_qa", c.disable_qa);
  table.number("adjust_bytes_threshold", c.adjust_bytes_threshold);
  table.number("adjust_period_threshold", c.adjust_period_threshold);
  table.number("base_rtt", c.base_rtt);
  table.number("eta", c.eta);
  table.number("fi", c.fi);
  table.number("fi_scale", c.fi_scale);
  table.number("gamma", c.gamma);
  table.number("max_md_jump", c.max_md_jump);
  table.number("max_cwnd", c.max_cwnd);
  table.number("qa_gate", c.qa_gate);
  table.number("qa_threshold", c.qa_threshold);
  table.number("target_delay", c.target_delay);
  table.finish();
  return spec;
}

ProfileFile read_all(const Json& root) {
  if (!root.is_object()) throw Complaint{"the file must hold tables [format.ID], [ev.ID], [cc.ID]"};
  ProfileFile file;
  for (const auto& [kind, tables] : root.items()) {
    if (!profile_kind(kind)) throw Complaint{"there is no kind of profile '" + kind + "': format, ev or cc"};
    if (!tables.is_object()) throw Complaint{kind + " must hold a table for each profile, [" + kind + ".ID]"};
    for (const auto& [key, value] : tables.items()) {
      std::uint64_t id = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
      const std::string name = kind + "." + key;
      if (error != std::errc{} || end != key.data() + key.size() || id == 0)
        throw Complaint{name + ": a profile's id is a number from 1 on"};
      if (kind == "format") file.formats.push_back(read_format(id, Table(name, value)));
      if (kind == "ev") file.evs.push_back(read_evs(id, name, Table(name, value)));
      if (kind == "cc") file.ccs.push_back(read_cc(id, Table(name, value)));
    }
  }
  if (file.formats.empty() && file.evs.empty() && file.ccs.empty())
    throw Complaint{"it holds no profile: [format.ID], [ev.ID] or [cc.ID]"};
  return file;
}

Json parse_json(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw Complaint{"it is not JSON"};
  return json;
}

Json parse_toml(const std::string& text) {
  try {
    std::ostringstream out;
    out << toml::json_formatter(toml::parse(text));
    return parse_json(out.str());
  } catch (const toml::parse_error& e) {
    throw Complaint{"line " + std::to_string(e.source().begin.line) + ": " + std::string(e.description())};
  }
}

}  // namespace

Result<ProfileFile> parse_profiles(const std::string& text, bool toml) {
  try {
    return read_all(toml ? parse_toml(text) : parse_json(text));
  } catch (const Complaint& complaint) {
    return Error{EINVAL, complaint.what};
  }
}

Result<ProfileFile> read_profile_file(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Error{errno, "can't read " + path + ": " + std::strerror(errno)};
  std::ostringstream text;
  text << in.rdbuf();
  auto file = parse_profiles(text.str(), !path.ends_with(".json"));
  if (!file) return Error{EINVAL, path + ": " + file.error().what};
  return file;
}

}  // namespace mrc::tools
