#include "base/json.h"

#include <cmath>
#include <cstdio>

namespace mrc {

void JsonWriter::clear() {
  text_.clear();
  needs_comma_ = false;
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::quote(std::string_view v) {
  text_ += '"';
  for (const char c : v) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += {'\\', c};
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      text_ += escape;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view v) {
  separate();
  text_ += v;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view v) {
  separate();
  quote(v);
  return *this;
}

JsonWriter& JsonWriter::value(double v) {
  if (!std::isfinite(v)) return null();
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g", v);
  double shorter = 0;  // 15 digits where they say the same number: 0.1, not 0.10000000000000001
  char brief[32];
  std::snprintf(brief, sizeof brief, "%.15g", v);
  std::sscanf(brief, "%lf", &shorter);
  return raw(shorter == v ? brief : digits);
}

JsonWriter& JsonWriter::open(std::string_view name, char bracket) {
  if (!name.empty()) key(name);
  separate();
  text_ += bracket;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
  return *this;
}

}  // namespace mrc
