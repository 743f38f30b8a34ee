#include "scenario/document.h"

#include <cerrno>
#include <charconv>
#include <optional>

#include "scenario/table_reader.h"
#include "sim/text_input.h"

namespace mrc::scenario {
namespace {

constexpr std::size_t kMostPoints = 4096;

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> out(1);
  for (const char c : path) {
    if (c == '.') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

std::optional<std::size_t> index_of(const std::string& segment) {
  std::size_t n = 0;
  const auto [end, error] = std::from_chars(segment.data(), segment.data() + segment.size(), n);
  if (error != std::errc{} || end != segment.data() + segment.size()) return std::nullopt;
  return n;
}

const toml::node* child(const toml::node& parent, const std::string& segment) {
  if (const toml::table* table = parent.as_table()) return table->get(segment);
  const toml::array* array = parent.as_array();
  const auto index = index_of(segment);
  return array != nullptr && index && *index < array->size() ? array->get(*index) : nullptr;
}

Error syntax_error(const toml::parse_error& e, const std::string& file) {
  return {EINVAL, file + ":" + std::to_string(e.source().begin.line) + ": " + std::string(e.description())};
}

void insert(toml::table& table, const std::string& key, const toml::node& value) {
  value.visit([&](const auto& concrete) { table.insert_or_assign(key, concrete); });
}

void replace(toml::array& array, std::size_t index, const toml::node& value) {
  value.visit([&](const auto& concrete) {
    array.replace(array.cbegin() + static_cast<std::ptrdiff_t>(index), concrete);
  });
}

}  // namespace

const toml::node* node_at(const toml::table& root, std::string_view path) {
  const toml::node* at = &root;
  for (const std::string& segment : segments_of(path)) {
    at = child(*at, segment);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Result<Document> Document::parse(std::string_view text, const std::string& file) {
  try {
    return Document(toml::parse(text, file), file);
  } catch (const toml::parse_error& e) {
    return syntax_error(e, file);
  }
}

Result<Document> Document::read(const std::string& path) {
  auto text = sim::read_text(path);
  if (!text) return text.error();
  return parse(*text, path);
}

Status Document::put(const std::string& path, const toml::node& value, const std::string& place) {
  const auto segments = segments_of(path);
  origins_.push_back({path, place});
  const auto refuse = [&](const std::string& segment, const std::string& why) {
    return Error{EINVAL, place + ": '" + path + "' leads nowhere: " + segment + " " + why};
  };
  toml::node* at = &root_;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const bool last = i + 1 == segments.size();
    if (segments[i].empty()) return refuse("an empty word", "names nothing; write it as job.0.bytes");
    if (toml::table* table = at->as_table()) {
      if (last) return insert(*table, segments[i], value), Done{};
      if (!table->contains(segments[i])) table->insert(segments[i], toml::table{});
      at = table->get(segments[i]);
    } else if (toml::array* array = at->as_array()) {
      const auto index = index_of(segments[i]);
      if (!index || *index >= array->size())
        return refuse(segments[i], "is not one of the " + std::to_string(array->size()) +
                                       " there; they are counted from 0");
      if (last) return replace(*array, *index, value), Done{};
      at = array->get(*index);
    } else {
      return refuse(segments[i], "stands below a value that is no table");
    }
  }
  return Done{};
}

Status Document::set(const Setting& setting, const std::string& place) {
  const auto parse_as = [](const std::string& text) -> std::optional<toml::table> {
    try {
      return toml::parse("v = " + text);
    } catch (const toml::parse_error&) {
      return std::nullopt;
    }
  };
  auto parsed = parse_as(setting.value);
  if (!parsed) parsed = parse_as("\"" + setting.value + "\"");  // 100G needs no quotes on a command line
  if (!parsed || !parsed->contains("v"))
    return Error{EINVAL, place + ": the value is not TOML; strings need no quotes"};
  return put(setting.path, *parsed->get("v"), place);
}

Status Document::set(const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == assignment.npos || equals == 0)
    return Error{EINVAL, "--set " + assignment + ": write it as --set job.0.bytes=1000000"};
  return set({assignment.substr(0, equals), assignment.substr(equals + 1)}, "--set " + assignment);
}

Status Document::apply(const char* name) {
  const toml::node* node = root_.get(name);
  if (node == nullptr) return Done{};
  if (!node->is_table())
    return Error{EINVAL, place_of(*node, file_) + ": " + name + " must be a table: [" + name + "]"};
  std::vector<std::pair<Setting, std::string>> changes;  // first all, because the document changes under them
  for (const auto& [key, value] : *node->as_table())
    changes.push_back({{std::string(key.str()), toml_text(value)}, place_of(value, file_)});
  for (const auto& [setting, place] : changes) {
    if (auto done = set(setting, place); !done) return done;
  }
  return Done{};
}

Result<std::vector<std::vector<Setting>>> Document::grid() const {
  std::vector<std::vector<Setting>> points(1);
  const Complaint where{file_, "", origins_};
  const toml::node* node = root_.get("sweep");
  if (node == nullptr) return points;
  if (!node->is_table()) return Error{EINVAL, place_of(*node, file_) + ": sweep must be a table: [sweep]"};
  for (const auto& [key, values] : *node->as_table()) {
    const std::string path(key.str());
    const toml::array* list = values.as_array();
    if (list == nullptr || list->empty())
      return Error{EINVAL, place_of(values, file_) + ": sweep.\"" + path +
                               "\" must be a list of values, such as \"transport.evs\" = [32, 128]"};
    if (points.size() * list->size() > kMostPoints)
      return Error{EINVAL, place_of(values, file_) + ": the sweep has more than " +
                               std::to_string(kMostPoints) + " points; shorten its lists"};
    std::vector<std::vector<Setting>> longer;
    for (const auto& point : points) {
      for (const toml::node& value : *list) {
        longer.push_back(point);
        longer.back().push_back({path, toml_text(value), where.place(value, "sweep." + path)});
      }
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace mrc::scenario
