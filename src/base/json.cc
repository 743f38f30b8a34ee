#include "base/json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mrc {
namespace {

/// Bytes of the character that `v` begins with, which is not ASCII; 0: it is no UTF-8.
std::size_t character_length(std::string_view v) {
  const auto at = [&](std::size_t i) { return i < v.size() ? static_cast<unsigned char>(v[i]) : 0u; };
  const unsigned first = at(0), second = at(1);
  const std::size_t length = first < 0xC2 || first > 0xF4 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  const bool longer_than_needed = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool no_character = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return longer_than_needed || no_character ? 0 : length;
}

}  // namespace

void JsonWriter::clear() {
  text_.clear();
  needs_comma_ = false;
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

// Names of programs and files may hold any bytes: one that is no UTF-8 would spoil the whole text.
void JsonWriter::quote(std::string_view v) {
  text_ += '"';
  for (std::size_t i = 0, length = 0; i < v.size(); i += std::max<std::size_t>(length, 1)) {
    const auto byte = static_cast<unsigned char>(v[i]);
    length = byte < 0x80 ? 1 : character_length(v.substr(i));
    if (v[i] == '"' || v[i] == '\\') {
      text_ += {'\\', v[i]};
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      text_ += escape;
    } else if (length == 0) {
      text_ += "\\ufffd";
    } else {
      text_ += v.substr(i, length);
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
