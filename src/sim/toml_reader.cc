#include "sim/toml_reader.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>

namespace mrc::sim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

/// A number and one of the units; nothing when it is neither or does not fit.
std::optional<double> with_unit(std::string_view text, std::span<const Unit> units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  for (const Unit& u : units) {
    if (rest == u.name && value * u.factor < 0x1p62) return value * u.factor;
  }
  return std::nullopt;
}

std::string number_text(double v) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v).ptr;
  return std::string(buffer, end);
}

}  // namespace

Result<Ps> parse_time(std::string_view text) {
  static constexpr Unit kUnits[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  const auto v = with_unit(text, kUnits);
  if (!v)
    return Error{EINVAL,
                 "'" + std::string(text) + "' is not a time; write \"500ns\", \"1.5us\", \"2ms\" or \"1s\""};
  return static_cast<Ps>(std::llround(*v));
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1},         {"B", 1},        {"K", 1e3},      {"KB", 1e3},
                                    {"M", 1e6},      {"MB", 1e6},     {"G", 1e9},      {"GB", 1e9},
                                    {"Ki", 1024},    {"KiB", 1024},   {"Mi", 1 << 20}, {"MiB", 1 << 20},
                                    {"Gi", 1 << 30}, {"GiB", 1 << 30}};
  const auto v = with_unit(text, kUnits);
  if (!v)
    return Error{EINVAL,
                 "'" + std::string(text) + "' is not a size; write 65536, \"64KB\", \"1MiB\" or \"2GB\""};
  return static_cast<std::uint64_t>(std::llround(*v));
}

TomlReader::TomlReader(const toml::table& table, std::string name, std::string_view file)
    : table_(table), name_(std::move(name)), file_(file) {}

const toml::node* TomlReader::find(const char* key) {
  known_.emplace_back(key);
  return table_.get(key);
}

void TomlReader::complain(const toml::node& at, std::string_view key, const std::string& why) {
  if (!error_.empty()) return;
  const auto line = at.source().begin.line;
  error_ = file_ + (line != 0 ? ":" + std::to_string(line) : "") + ": " + name_ + (name_.empty() ? "" : ".") +
           std::string(key) + " " + why;
}

void TomlReader::complain(const char* key, const std::string& why) {
  const toml::node* node = table_.get(key);
  complain(node != nullptr ? *node : static_cast<const toml::node&>(table_), key, why);
}

bool TomlReader::whole(const char* key, std::int64_t& out, std::int64_t least, std::int64_t most) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<std::int64_t>();
  if (value && *value >= least && *value <= most) return out = *value, true;
  complain(*node, key, "must be a whole number, " + std::to_string(least) + " to " + std::to_string(most));
  return false;
}

void TomlReader::real(const char* key, double& out, double least, double most) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value<double>();
  if (!node->is_number() || !value || !(*value >= least && *value <= most)) {
    return complain(*node, key, "must be a number, " + number_text(least) + " to " + number_text(most));
  }
  out = *value;
}

void TomlReader::flag(const char* key, bool& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value_exact<bool>();
  if (!value) return complain(*node, key, "must be true or false");
  out = *value;
}

void TomlReader::text(const char* key, std::string& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value_exact<std::string>();
  if (!value) return complain(*node, key, "must be a string");
  out = *value;
}

void TomlReader::parsed(const char* key, const std::function<std::string(const std::string&)>& parse) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto number = node->value_exact<std::int64_t>();
  const auto value = number ? std::optional(std::to_string(*number)) : node->value_exact<std::string>();
  if (!value) return complain(*node, key, "must be a string");
  if (const std::string wrong = parse(*value); !wrong.empty()) complain(*node, key, wrong);
}

void TomlReader::bytes(const char* key, std::uint64_t& out, std::uint64_t least, std::uint64_t most) {
  parsed(key, [&](const std::string& text) -> std::string {
    const auto value = parse_bytes(text);
    if (!value) return value.error().what;
    if (*value < least || *value > most)
      return "must be " + std::to_string(least) + " to " + std::to_string(most) + " bytes";
    out = *value;
    return "";
  });
}

void TomlReader::time(const char* key, Ps& out) {
  parsed(key, [&](const std::string& text) -> std::string {
    const auto value = parse_time(text);
    if (!value) return value.error().what;
    out = *value;
    return "";
  });
}

bool TomlReader::one_of(const char* key, std::size_t& out, std::span<const std::string_view> names) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<std::string>();
  const auto found = value ? std::find(names.begin(), names.end(), *value) : names.end();
  if (found != names.end()) return out = static_cast<std::size_t>(found - names.begin()), true;
  std::string known;
  for (const std::string_view n : names) known += (known.empty() ? "\"" : ", \"") + std::string(n) + "\"";
  complain(*node, key, "must be one of " + known);
  return false;
}

void TomlReader::inner(const toml::table& table, std::string name,
                       const std::function<void(TomlReader&)>& read) {
  TomlReader reader(table, std::move(name), file_);
  read(reader);
  if (const std::string wrong = reader.finish(); !wrong.empty() && error_.empty()) error_ = wrong;
}

void TomlReader::table(const char* key, const std::function<void(TomlReader&)>& read) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (!node->is_table()) return complain(*node, key, std::string("must be a table, [") + key + "]");
  inner(*node->as_table(), name_ + (name_.empty() ? "" : ".") + key, read);
}

void TomlReader::tables(const char* key, const std::function<void(TomlReader&)>& read) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr || !array->is_array_of_tables())
    return complain(*node, key, std::string("must be written as [[") + key + "]]");
  for (const toml::node& element : *array) inner(*element.as_table(), key, read);
}

std::string TomlReader::finish() {
  for (const auto& [key, node] : table_) {
    if (!error_.empty()) break;
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
    std::string known;
    for (const std::string& k : known_) known += (known.empty() ? "" : ", ") + k;
    complain(node, key.str(), "is not a setting; known here: " + known);
  }
  return error_;
}

}  // namespace mrc::sim
