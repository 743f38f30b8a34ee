// Reads a TOML table strictly: every key that nobody asked for and every value out of range is a complaint
// with line and remedy. The first complaint is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#define TOML_HEADER_ONLY 0
#include <toml++/toml.h>

#include "base/result.h"
#include "base/time.h"
#include "sim/ps.h"

namespace mrc::sim {

class TomlReader {
 public:
  /// `name` is what the table is called in complaints, "" for the root.
  TomlReader(const toml::table& table, std::string name, std::string_view file);

  bool has(const char* key) const { return table_.get(key) != nullptr; }

  // Each leaves `out` as it is when the key is absent.
  template <class Integer>
  void count(const char* key, Integer& out, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    if (whole(key, value, least, most)) out = static_cast<Integer>(value);
  }
  void real(const char* key, double& out, double least, double most);
  void flag(const char* key, bool& out);
  void text(const char* key, std::string& out);
  /// A size: 65536, "64KB", "1MB", "2GiB". K, M, G are powers of 1000; Ki, Mi, Gi of 1024.
  void bytes(const char* key, std::uint64_t& out, std::uint64_t least, std::uint64_t most);
  /// A time: "500ns", "1.5us", "2ms", "1s".
  void time(const char* key, Ps& out);
  /// One of `names`; out becomes its index.
  template <class Enum>
  void choice(const char* key, Enum& out, std::span<const std::string_view> names) {
    std::size_t index = 0;
    if (one_of(key, index, names)) out = static_cast<Enum>(index);
  }
  /// A string or a whole number, turned into a value by `parse`, which says what is wrong.
  void parsed(const char* key, const std::function<std::string(const std::string&)>& parse);
  void table(const char* key, const std::function<void(TomlReader&)>& read);
  /// An array of tables ([[key]]); `read` is called for each.
  void tables(const char* key, const std::function<void(TomlReader&)>& read);
  /// Somebody else reads it.
  void leave(const char* key) { known_.emplace_back(key); }

  void complain(const char* key, const std::string& why);
  /// Complains of keys that nobody asked for; then the first complaint, or nothing.
  std::string finish();

 private:
  const toml::node* find(const char* key);
  bool whole(const char* key, std::int64_t& out, std::int64_t least, std::int64_t most);
  bool one_of(const char* key, std::size_t& out, std::span<const std::string_view> names);
  void complain(const toml::node& at, std::string_view key, const std::string& why);
  void inner(const toml::table& table, std::string name, const std::function<void(TomlReader&)>& read);

  const toml::table& table_;
  std::string name_, file_, error_;
  std::vector<std::string> known_;
};

/// "1.5us" as ps.
Result<Ps> parse_time(std::string_view text);
/// "64KB" as bytes.
Result<std::uint64_t> parse_bytes(std::string_view text);

}  // namespace mrc::sim
