// A topology file: the [topology] table of a TOML text, read strictly, and written back.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include "topo/spec.h"

namespace mrc::topo {
namespace {

/// Reads keys of one table, remembers the first complaint, and in the end complains of keys that nobody asked
/// for.
class Reader {
 public:
  Reader(const toml::table& table, std::string prefix, std::string_view file)
      : table_(table), prefix_(std::move(prefix)), file_(file) {}

  void count(const char* key, std::uint32_t& out) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > kMaxCount)
      return complain(*node, key, "must be a whole number, 0 to 16777216");
    out = static_cast<std::uint32_t>(*value);
  }

  template <class T, class Parse>
  void text(const char* key, T& out, Parse parse) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::string>();
    if (!value) return complain(*node, key, "must be a string");
    auto parsed = parse(*value);
    if (!parsed) return complain(*node, key, parsed.error().what);
    out = *parsed;
  }

  template <class Read>
  void table(const char* key, Read read) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    if (!node->is_table()) return complain(*node, key, "must be a table");
    Reader inner(*node->as_table(), prefix_ + key + ".", file_);
    read(inner);
    if (auto e = inner.finish(); !e.empty() && error_.empty()) error_ = e;
  }

  std::string finish() {
    if (!error_.empty()) return error_;
    for (const auto& [key, node] : table_) {
      if (known_.find("," + std::string(key.str()) + ",") != std::string::npos) continue;
      complain(node, std::string(key.str()), "is not a setting; known here: " + listed());
      break;
    }
    return error_;
  }

 private:
  static constexpr std::int64_t kMaxCount = 1 << 24;

  const toml::node* find(const char* key) {
    known_ += std::string(key) + ",";
    return table_.get(key);
  }
  void complain(const toml::node& at, const std::string& key, const std::string& why) {
    if (!error_.empty()) return;
    error_ = file_ + ":" + std::to_string(at.source().begin.line) + ": " + prefix_ + key + " " + why;
  }
  std::string listed() const {
    std::string list;
    for (const char c : known_.substr(1, known_.size() - 2))
      list += c == ',' ? std::string(", ") : std::string(1, c);
    return list;
  }

  const toml::table& table_;
  std::string prefix_, file_, known_ = ",", error_;
};

Result<Ipv6Prefix> prefix_from(std::string_view text) {
  const auto p = parse_ipv6_prefix(text);
  if (!p)
    return Error{EINVAL,
                 "\"" + std::string(text) + "\" is not an IPv6 prefix; write it as \"fcbb:bb00::/32\""};
  return *p;
}

void read_link(Reader& r, LinkSpec& link) {
  r.text("rate", link.bits_per_second, parse_rate);
  r.text("delay", link.delay, parse_delay);
}

void read_links(Reader& r, Spec& s) {
  r.table("host", [&](Reader& in) { read_link(in, s.host_link); });
  r.table("t0_t1", [&](Reader& in) { read_link(in, s.t0_t1); });
  r.table("t1_t2", [&](Reader& in) { read_link(in, s.t1_t2); });
}

void read_topology(Reader& r, Spec& s) {
  r.count("planes", s.planes);
  r.count("tiers", s.tiers);
  r.count("pods", s.pods);
  r.count("t0", s.t0);
  r.count("t1", s.t1);
  r.count("t2", s.t2);
  r.count("hosts_per_t0", s.hosts_per_t0);
  r.count("hosts", s.hosts);
  r.count("radix", s.radix);
  r.text("switch_delay", s.switch_delay, parse_delay);
  r.text("locator", s.locator, prefix_from);
  r.text("host_prefix", s.host_prefix, prefix_from);
  r.table("links", [&](Reader& in) { read_links(in, s); });
}

Error syntax_error(const toml::parse_error& e, std::string_view file) {
  return Error{EINVAL, std::string(file) + ":" + std::to_string(e.source().begin.line) + ": " +
                           std::string(e.description())};
}

std::string link_toml(const char* name, const LinkSpec& l) {
  return std::string(name) + " = { rate = \"" + rate_text(l.bits_per_second) + "\", delay = \"" +
         delay_text(l.delay) + "\" }\n";
}

}  // namespace

Result<Spec> parse_spec(std::string_view text, std::string_view file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    return syntax_error(e, file);
  }
  const toml::table* table = root["topology"].as_table();
  if (table == nullptr)
    return Error{EINVAL, std::string(file) + ": no [topology] table; it says planes, t0, t1, hosts_per_t0"};
  Spec spec;
  Reader reader(*table, "topology.", file);
  read_topology(reader, spec);
  if (auto error = reader.finish(); !error.empty()) return Error{EINVAL, error};
  return spec;
}

Result<Spec> read_spec(const std::string& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored))
    return Error{EISDIR, path + ": is a directory; name a file in it"};
  std::ifstream in(path);
  if (!in) return Error{errno, path + ": can not be read"};
  std::ostringstream text;
  text << in.rdbuf();
  return parse_spec(text.str(), path);
}

std::string to_toml(const Spec& s) {
  std::ostringstream out;
  out << "[topology]\nplanes = " << s.planes << "\ntiers = " << s.tiers << "\npods = " << s.pods
      << "\nt0 = " << s.t0 << "\nt1 = " << s.t1 << "\nt2 = " << s.t2 << "\nhosts_per_t0 = " << s.hosts_per_t0
      << "\nhosts = " << s.hosts << "\nradix = " << s.radix << "\nswitch_delay = \""
      << delay_text(s.switch_delay) << "\"\nlocator = \"" << to_string(s.locator) << "\"\nhost_prefix = \""
      << to_string(s.host_prefix) << "\"\n\n[topology.links]\n"
      << link_toml("host", s.host_link) << link_toml("t0_t1", s.t0_t1) << link_toml("t1_t2", s.t1_t2);
  return out.str();
}

}  // namespace mrc::topo
