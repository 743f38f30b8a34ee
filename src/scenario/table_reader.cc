#include "scenario/table_reader.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/size.h"
#include "topo/spec.h"

namespace mrc::scenario {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = other;
    }
  }
  return row[b.size()];
}

std::string listed(std::span<const std::string> names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + n;
  return out;
}

std::string advice(std::string_view word, std::span<const std::string> known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "known here: " + listed(known) : "did you mean '" + near + "'?";
}

}  // namespace

std::string place_of(const toml::node& node, const std::string& file) {
  const toml::source_region& at = node.source();
  return (at.path ? *at.path : file) + ":" + std::to_string(at.begin.line);
}

std::string toml_text(const toml::node& node) {
  std::ostringstream out;
  node.visit([&](const auto& concrete) { out << concrete; });
  return out.str();
}

std::string Complaint::place(const toml::node& at, const std::string& path) const {
  std::string found = place_of(at, file);
  if (at.source().begin.line != 0) return found;
  for (const Origin& o : origins) {
    // It was put there, or it is a table that was made for what was put into it.
    if ((path + ".").starts_with(o.path + ".") || o.path.starts_with(path + ".")) found = o.place;
  }
  return found;
}

void Complaint::note(const toml::node& at, const std::string& path, const std::string& shown,
                     const std::string& why) {
  if (!what.empty()) return;
  what = place(at, path) + ": " + shown + (shown.empty() ? "" : " ") + why;
}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& k : known) {
    const std::size_t d = edit_distance(word, k);
    if (d < least) least = d, best = k;
  }
  return best;
}

const toml::node* TableReader::find(const char* key) {
  known_.emplace_back(key);
  return table_.get(key);
}

void TableReader::complain(std::string_view key, const std::string& why) {
  const toml::node* at = table_.get(key);
  const std::string path = prefix_ + std::string(key);
  complaint_.note(at != nullptr ? *at : table_, path, path, why);
}

void TableReader::complain(const std::string& why) { complaint_.note(table_, path(), path(), why); }

std::string TableReader::path() const { return prefix_.empty() ? "" : prefix_.substr(0, prefix_.size() - 1); }

bool TableReader::whole(const char* key, std::uint64_t& out, std::uint64_t least, std::uint64_t most) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<std::int64_t>();
  if (!value || *value < 0 || static_cast<std::uint64_t>(*value) < least ||
      static_cast<std::uint64_t>(*value) > most) {
    complain(key, "must be a whole number, " + std::to_string(least) + " to " +
                      std::to_string(std::min<std::uint64_t>(most, INT64_MAX)));
    return false;
  }
  out = static_cast<std::uint64_t>(*value);
  return true;
}

void TableReader::real(const char* key, double& out, double least, double most) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value<double>();
  if (!value || !(*value >= least && *value <= most)) {
    char range[64];
    std::snprintf(range, sizeof range, "must be a number, %g to %g", least, most);
    return complain(key, range);
  }
  out = *value;
}

void TableReader::flag(const char* key, bool& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto value = node->value_exact<bool>();
  if (!value) return complain(key, "must be true or false");
  out = *value;
}

bool TableReader::string(const char* key, std::string& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  const auto value = node->value_exact<std::string>();
  if (!value) {
    complain(key, "must be a string");
    return false;
  }
  out = *value;
  return true;
}

void TableReader::text(const char* key, std::string& out) { string(key, out); }

void TableReader::time(const char* key, sim::Ps& out, sim::Ps least) {
  Duration value{};
  if (!has(key)) return known_.emplace_back(key), void();
  parsed(key, value, topo::parse_delay);
  if (!complaint_.what.empty()) return;
  if (sim::to_ps(value) < least) return complain(key, "must be longer than 0");
  out = sim::to_ps(value);
}

bool TableReader::size(const char* key, std::uint64_t& out, std::uint64_t least, std::uint64_t most) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  std::optional<std::uint64_t> value;
  if (const auto number = node->value_exact<std::int64_t>(); number && *number >= 0)
    value = static_cast<std::uint64_t>(*number);
  if (const auto word = node->value_exact<std::string>()) value = parse_size(*word);
  if (!value || *value < least || *value > most) {
    complain(key, "must be a number of bytes, " + std::to_string(least) + " to " + std::to_string(most) +
                      ", written as 1000000, \"1MB\" or \"64K\" (65536)");
    return false;
  }
  out = *value;
  return true;
}

void TableReader::strings(const char* key, std::vector<std::string>& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr) return complain(key, "must be a list of strings");
  for (const toml::node& item : *array) {
    const auto value = item.value_exact<std::string>();
    if (!value) return complain(key, "must be a list of strings");
    out.push_back(*value);
  }
}

void TableReader::numbers(const char* key, std::vector<std::uint32_t>& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  if (array == nullptr) return complain(key, "must be a list of whole numbers");
  for (const toml::node& item : *array) {
    const auto value = item.value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > UINT32_MAX) return complain(key, "must be a list of whole numbers");
    out.push_back(static_cast<std::uint32_t>(*value));
  }
}

void TableReader::pairs(const char* key, std::vector<std::pair<std::uint32_t, std::uint32_t>>& out) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const auto refuse = [&] { complain(key, "must be a list of pairs, such as [[0, 8], [1, 9]]"); };
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty()) return refuse();
  for (const toml::node& item : *array) {
    const toml::array* pair = item.as_array();
    if (pair == nullptr || pair->size() != 2) return refuse();
    const auto a = (*pair)[0].value_exact<std::int64_t>(), b = (*pair)[1].value_exact<std::int64_t>();
    if (!a || !b || *a < 0 || *b < 0 || *a > UINT32_MAX || *b > UINT32_MAX) return refuse();
    out.emplace_back(static_cast<std::uint32_t>(*a), static_cast<std::uint32_t>(*b));
  }
}

void TableReader::unknown_word(const char* key, const std::string& word, std::span<const std::string> names) {
  const std::string near = nearest(word, names);
  complain(key, "is '" + word + "', which is none of " + listed(names) +
                    (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

void TableReader::table(const char* key, const std::function<void(TableReader&)>& read) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  if (!node->is_table()) return complain(key, "must be a table: [" + prefix_ + key + "]");
  TableReader inner(*node->as_table(), prefix_ + key + ".", complaint_);
  read(inner);
  inner.finish();
}

void TableReader::tables(const char* key, const std::function<void(TableReader&, std::size_t)>& read) {
  const toml::node* node = find(key);
  if (node == nullptr) return;
  const toml::array* array = node->as_array();
  const bool all = array != nullptr && std::all_of(array->begin(), array->end(),
                                                   [](const toml::node& n) { return n.is_table(); });
  if (!all) return complain(key, "must be tables: [[" + prefix_ + key + "]]");
  for (std::size_t i = 0; i < array->size(); ++i) {
    TableReader inner(*(*array)[i].as_table(), prefix_ + key + "." + std::to_string(i) + ".", complaint_);
    read(inner, i);
    inner.finish();
  }
}

void TableReader::finish() {
  for (const auto& [key, node] : table_) {
    const std::string word(key.str());
    if (std::find(known_.begin(), known_.end(), word) != known_.end()) continue;
    complaint_.note(node, prefix_ + word, prefix_ + word, "is not a setting; " + advice(word, known_));
  }
}

}  // namespace mrc::scenario
