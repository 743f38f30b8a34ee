// A scenario file as text: parsed TOML before it is given a meaning, with values that replace others.
//
// [sweep], [quick], [baseline] and --set all say the same: put this value at that dotted path. Numbers in a
// path count [[tables]]: "job.0.bytes".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "scenario/scenario.h"
#include "scenario/table_reader.h"

namespace mrc::scenario {

/// "job.0.bytes" and what stands there, as TOML writes it.
struct Setting {
  std::string path;
  std::string value;
  std::string place = "";  // where a sweep says it: "file:line"
};

class Document {
 public:
  Document(Document&&) = default;  // a copy would forget its lines
  Document& operator=(Document&&) = default;

  static Result<Document> parse(std::string_view text, const std::string& file);
  static Result<Document> read(const std::string& path);

  const std::string& file() const { return file_; }
  const toml::table& root() const { return root_; }

  /// Puts a value, as TOML writes it, at a path. Tables on the way are made, elements of arrays must exist.
  /// `place` says in errors where it came from.
  Status set(const Setting& setting, const std::string& place);
  /// "job.0.bytes=1000", as given with --set.
  Status set(const std::string& assignment);
  /// All that table [name] says, if there is one: "path" = value.
  Status apply(const char* name);
  bool has(const char* name) const { return root_.contains(name); }

  /// The grid of [sweep]: every combination of its lists, the last one varying fastest. One empty point
  /// without [sweep].
  Result<std::vector<std::vector<Setting>>> grid() const;

  /// The meaning. Keys that only Documents understand are left out.
  Result<Scenario> scenario() const;

 private:
  Document(toml::table root, std::string file) : root_(std::move(root)), file_(std::move(file)) {}

  Status put(const std::string& path, const toml::node& value, const std::string& place);

  toml::table root_;
  std::string file_;
  std::vector<Origin> origins_;  // of values that were put in later
};

/// The value at a dotted path; nothing when there is none.
const toml::node* node_at(const toml::table& root, std::string_view path);

}  // namespace mrc::scenario
