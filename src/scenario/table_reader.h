// Reads TOML tables strictly: every value has a type and a range, and a key that nobody asked for is an
// error.
//
// All readers of a text share one Complaint, which keeps the first error only: "file:line: key why; remedy".
// After it, reading goes on without effect, so callers need to look once, at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include "base/result.h"
#include "sim/ps.h"

namespace mrc::scenario {

/// Where a value came from that a file's text does not show: the library forgets the lines of copies.
struct Origin {
  std::string path;   // "job.0.bytes"
  std::string place;  // "file:line", or what the command line said
};

struct Complaint {
  std::string file;  // of nodes that know none
  std::string what;  // the first one; empty: none
  std::vector<Origin> origins;

  /// Where the value of that dotted name was written.
  std::string place(const toml::node& at, const std::string& path) const;
  /// `path` is the dotted name of what is wrong; `shown` what the sentence calls it.
  void note(const toml::node& at, const std::string& path, const std::string& shown, const std::string& why);
};

/// "file:line" of a node, as errors begin.
std::string place_of(const toml::node& node, const std::string& file);

/// As TOML writes it.
std::string toml_text(const toml::node& node);

/// The known word that a person most likely meant; empty when nothing is near.
std::string nearest(std::string_view word, std::span<const std::string> known);

template <class E>
struct Choice {
  std::string_view name;
  E value;
};

class TableReader {
 public:
  static constexpr std::uint64_t kMostBytes = 1'000'000'000'000'000;

  TableReader(const toml::table& table, std::string prefix, Complaint& complaint)
      : table_(table), prefix_(std::move(prefix)), complaint_(complaint) {}

  bool has(std::string_view key) const { return table_.get(key) != nullptr; }
  const toml::table& raw() const { return table_; }

  template <class T>
  void number(const char* key, T& out, std::uint64_t least = 0,
              std::uint64_t most = std::numeric_limits<T>::max()) {
    std::uint64_t value = 0;
    if (whole(key, value, least, most)) out = static_cast<T>(value);
  }
  void real(const char* key, double& out, double least, double most);
  void flag(const char* key, bool& out);
  void text(const char* key, std::string& out);
  /// "10us"; zero only where `least` allows it.
  void time(const char* key, sim::Ps& out, sim::Ps least = 0);
  /// 1000000, or "1MB", "64K".
  template <class T>
  void bytes(const char* key, T& out, std::uint64_t least = 1,
             std::uint64_t most = std::min<std::uint64_t>(std::numeric_limits<T>::max(), kMostBytes)) {
    std::uint64_t value = 0;
    if (size(key, value, least, most)) out = static_cast<T>(value);
  }
  void strings(const char* key, std::vector<std::string>& out);
  void numbers(const char* key, std::vector<std::uint32_t>& out);
  /// [[0, 8], [1, 9]]
  void pairs(const char* key, std::vector<std::pair<std::uint32_t, std::uint32_t>>& out);

  template <class E, std::size_t N>
  void choice(const char* key, E& out, const Choice<E> (&choices)[N]) {
    std::string word;
    if (!string(key, word)) return;
    std::vector<std::string> names;
    for (const Choice<E>& c : choices) {
      if (c.name == word) return void(out = c.value);
      names.emplace_back(c.name);
    }
    unknown_word(key, word, names);
  }
  /// A string through `parse`, a function from string_view to Result<T>.
  template <class T, class Parse>
  void parsed(const char* key, T& out, Parse parse) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto word = node->value_exact<std::string>();
    auto value = parse(word ? *word : toml_text(*node));  // who writes a bare number hears what it lacks
    if (!value) return complain(key, value.error().what);
    if (!word) return complain(key, "must be a string");
    out = *value;
  }

  void table(const char* key, const std::function<void(TableReader&)>& read);
  /// [[key]], one after the other.
  void tables(const char* key, const std::function<void(TableReader&, std::size_t)>& read);
  /// Looked at elsewhere.
  void leave(const char* key) { known_.emplace_back(key); }

  void complain(std::string_view key, const std::string& why);
  /// About the table as a whole.
  void complain(const std::string& why);
  std::string place() const { return complaint_.place(table_, path()); }
  /// Complains of keys that nobody asked for.
  void finish();

 private:
  const toml::node* find(const char* key);
  std::string path() const;
  bool whole(const char* key, std::uint64_t& out, std::uint64_t least, std::uint64_t most);
  bool size(const char* key, std::uint64_t& out, std::uint64_t least, std::uint64_t most);
  bool string(const char* key, std::string& out);
  void unknown_word(const char* key, const std::string& word, std::span<const std::string> names);

  const toml::table& table_;
  std::string prefix_;
  Complaint& complaint_;
  std::vector<std::string> known_;
};

}  // namespace mrc::scenario
