// Writes JSON text: objects, arrays, and values that are always well formed. For reports, never on a hot
// path.
//
//   JsonWriter json;
//   json.begin_object().field("psn", 5).begin_array("evs").value(1).value(2).end_array().end_object();
//   puts(json.text().c_str());   // {"psn":5,"evs":[1,2]}
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace mrc {

class JsonWriter {
 public:
  // Inside an array or at the top level the name is left out; inside an object it is required.
  JsonWriter& begin_object(std::string_view name = {}) { return open(name, '{'); }
  JsonWriter& begin_array(std::string_view name = {}) { return open(name, '['); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& value(std::string_view v);
  JsonWriter& value(const char* v) { return value(std::string_view(v)); }
  JsonWriter& value(bool v) { return raw(v ? "true" : "false"); }
  JsonWriter& value(double v);  // NaN and infinities have no JSON: null
  JsonWriter& value(std::signed_integral auto v) { return raw(std::to_string(std::int64_t{v})); }
  JsonWriter& value(std::unsigned_integral auto v) { return raw(std::to_string(std::uint64_t{v})); }
  JsonWriter& null() { return raw("null"); }

  JsonWriter& field(std::string_view name, const auto& v) {
    key(name);
    return value(v);
  }
  JsonWriter& key(std::string_view name);

  const std::string& text() const { return text_; }
  void clear();

 private:
  JsonWriter& open(std::string_view name, char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view v);
  void separate();
  void quote(std::string_view v);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace mrc
