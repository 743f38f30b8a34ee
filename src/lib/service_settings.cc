// Quality of service in words: which DSCP each class has, and how service levels share the ports.
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "lib/device_settings.h"

namespace mrc::lib {
namespace {

constexpr unsigned kMaxDscp = 63, kMaxWeight = 255;

using Class = std::pair<std::string_view, std::uint8_t wire::Settings::*>;
constexpr std::array<Class, 6> kClasses{{
    {"no_trim", &wire::Settings::dscp_no_trim},
    {"trimmable", &wire::Settings::dscp_trimmable},
    {"trimmable_retx", &wire::Settings::dscp_trimmable_retx},
    {"control", &wire::Settings::dscp_control},
    {"trimmed", &wire::Settings::dscp_trimmed},
    {"trimmed_lasthop", &wire::Settings::dscp_trimmed_lasthop},
}};

bool read_number(std::string_view digits, unsigned low, unsigned high, std::uint8_t& out) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc{} || end != digits.end() || number < low || number > high) return false;
  out = static_cast<std::uint8_t>(number);
  return true;
}

/// The text before the next comma, which `rest` loses.
std::string_view next_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(','));
  rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
  return word;
}

bool read_class(std::string_view word, wire::Settings& out) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  for (const auto& [name, field] : kClasses) {
    if (name == word.substr(0, equals)) return read_number(word.substr(equals + 1), 0, kMaxDscp, out.*field);
  }
  return false;
}

/// A packet that is whole must not look like one that was cut.
bool are_distinct(const wire::Settings& s) {
  for (const auto& [name, field] : kClasses) {
    const bool trimmed =
        field == &wire::Settings::dscp_trimmed || field == &wire::Settings::dscp_trimmed_lasthop;
    if (!trimmed && (s.*field == s.dscp_trimmed || s.*field == s.dscp_trimmed_lasthop)) return false;
  }
  return s.dscp_trimmed != s.dscp_trimmed_lasthop;
}

}  // namespace

Status read_dscp(std::string_view text, wire::Settings& out) {
  wire::Settings read = out;
  while (!text.empty()) {
    if (!read_class(next_word(text), read))
      return Error{
          EINVAL,
          "MRC_DSCP is CLASS=0..63, separated by commas; classes: no_trim, trimmable, trimmable_retx, "
          "control, trimmed, trimmed_lasthop"};
  }
  if (!are_distinct(read))
    return Error{EINVAL, "MRC_DSCP: trimmed and trimmed_lasthop need numbers that no other class has"};
  out = read;
  return Done{};
}

Status read_levels(std::string_view text, nic::SchedulerSettings& out) {
  const Error wrong{
      EINVAL, "MRC_LEVELS is strict, weighted, or weighted: and up to 16 weights 1..255 from level 0 on"};
  constexpr std::string_view kWeights = "weighted:";
  if (text == "strict") return out.levels = nic::LevelPolicy::strict, Done{};
  const bool listed = text.starts_with(kWeights);
  if (text != "weighted" && !listed) return wrong;
  nic::SchedulerSettings read = out;
  read.levels = nic::LevelPolicy::weighted;
  std::string_view rest = listed ? text.substr(kWeights.size()) : std::string_view{};
  if (listed && rest.empty()) return wrong;
  for (std::size_t level = 0; !rest.empty(); ++level) {
    if (level == read.weights.size() || !read_number(next_word(rest), 1, kMaxWeight, read.weights[level]))
      return wrong;
  }
  out = read;
  return Done{};
}

}  // namespace mrc::lib
