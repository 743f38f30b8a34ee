#include "tools/ctl_names.h"

#include <array>
#include <cstdio>

namespace mrc::tools {
namespace {

template <class T>
struct Named {
  T value;
  const char* name;
};

constexpr Named<node::ProfileState> kStates[] = {{node::ProfileState::init, "init"},
                                                 {node::ProfileState::offline, "offline"},
                                                 {node::ProfileState::online, "online"}};
constexpr Named<node::ProfileKind> kKinds[] = {
    {node::ProfileKind::format, "format"}, {node::ProfileKind::ev, "ev"}, {node::ProfileKind::cc, "cc"}};
constexpr Named<node::EvState> kEvStates[] = {{node::EvState::good, "good"},
                                              {node::EvState::assumed_bad, "assumed_bad"},
                                              {node::EvState::denied, "denied"},
                                              {node::EvState::unknown, "unknown"}};
constexpr Named<mrc_ctl_ev_fmt_mode> kFormatModes[] = {
    {MRC_CTL_EV_FMT_MODE_UDP, "udp"}, {MRC_CTL_EV_FMT_MODE_STEV, "stev"}, {MRC_CTL_EV_FMT_MODE_SRV6, "srv6"}};
constexpr Named<mrc_ctl_ev_mode> kEvModes[] = {
    {MRC_CTL_EV_MODE_AUTO, "auto"}, {MRC_CTL_EV_MODE_EXP, "explicit"}, {MRC_CTL_EV_MODE_GEN, "generated"}};

template <class T, std::size_t N>
const char* name_in(const Named<T> (&table)[N], T value) {
  for (const auto& row : table) {
    if (row.value == value) return row.name;
  }
  return "-";
}
template <class T, std::size_t N>
std::optional<T> value_in(const Named<T> (&table)[N], std::string_view word) {
  for (const auto& row : table) {
    if (row.name == word) return row.value;
  }
  return std::nullopt;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

const char* name_of(node::ProfileState state) { return name_in(kStates, state); }
const char* name_of(node::ProfileKind kind) { return name_in(kKinds, kind); }
const char* name_of(node::EvState state) { return name_in(kEvStates, state); }
std::optional<node::ProfileKind> profile_kind(std::string_view word) { return value_in(kKinds, word); }
std::optional<node::EvState> ev_state(std::string_view word) { return value_in(kEvStates, word); }
const char* format_mode_name(mrc_ctl_ev_fmt_mode mode) { return name_in(kFormatModes, mode); }
std::optional<mrc_ctl_ev_fmt_mode> format_mode(std::string_view word) { return value_in(kFormatModes, word); }
const char* ev_mode_name(mrc_ctl_ev_mode mode) { return name_in(kEvModes, mode); }
std::optional<mrc_ctl_ev_mode> ev_mode(std::string_view word) { return value_in(kEvModes, word); }

std::string ev_text(const node::EvBits& bits) {
  std::size_t used = bits.size();
  while (used > 2 && bits[used - 1] == 0) --used;
  std::string text = "0x";
  for (std::size_t i = 0; i < used; ++i) {
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[bits[i] >> 4];
    text += kDigits[bits[i] & 15];
  }
  return text;
}

std::optional<node::EvBits> ev_bits(std::string_view text) {
  node::EvBits bits{};
  if (!text.starts_with("0x") || text.size() < 3 || text.size() > 2 + 2 * bits.size()) return std::nullopt;
  for (std::size_t i = 2; i < text.size(); ++i) {
    const int value = digit(text[i]);
    if (value < 0) return std::nullopt;
    bits[(i - 2) / 2] |= static_cast<std::uint8_t>(i % 2 == 0 ? value << 4 : value);
  }
  return bits;
}

}  // namespace mrc::tools
