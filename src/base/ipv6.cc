#include "base/ipv6.h"

#include <charconv>

namespace mrc {
namespace {

/// Reads "hhhh[:hhhh]*" into groups; returns how many, or -1 when the text is something else.
int parse_groups(std::string_view text, std::array<std::uint16_t, 8>& groups) {
  int count = 0;
  while (!text.empty()) {
    if (count == 8) return -1;
    const auto colon = text.find(':');
    const auto word = text.substr(0, colon);
    const auto end = word.data() + word.size();
    if (word.empty() || word.size() > 4) return -1;
    const auto [stop, error] = std::from_chars(word.data(), end, groups[count++], 16);
    if (error != std::errc{} || stop != end) return -1;
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
    if (text.empty()) return -1;  // a trailing colon
  }
  return count;
}

struct Run {
  int first = -1, length = 0;
};

/// The longest run of zero groups, two or more: what "::" stands for.
Run longest_zero_run(const Ipv6& a) {
  Run best, run;
  for (int i = 0; i < 8; ++i) {
    if (a.group(i) != 0) {
      run = {};
      continue;
    }
    if (run.length++ == 0) run.first = i;
    if (run.length > best.length) best = run;
  }
  return best.length >= 2 ? best : Run{};
}

bool zero_beyond(const Ipv6& a, int length) {
  for (int bit = length; bit < 128; ++bit) {
    if ((a.bytes[bit / 8] >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

}  // namespace

bool Ipv6Prefix::contains(const Ipv6& a) const {
  for (int i = 0; i < 16; ++i) {
    const int bits = length - 8 * i;
    if (bits <= 0) return true;
    const int mask = bits >= 8 ? 0xFF : 0xFF00 >> bits & 0xFF;
    if (((a.bytes[i] ^ address.bytes[i]) & mask) != 0) return false;
  }
  return true;
}

std::string to_string(const Ipv6& a) {
  const Run zeros = longest_zero_run(a);
  std::string text;
  for (int i = 0; i < 8; ++i) {
    if (i == zeros.first) {
      text += "::";
      i += zeros.length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    char word[4];
    text.append(word, std::to_chars(word, word + 4, a.group(i), 16).ptr);
  }
  return text;
}

std::string to_string(const Ipv6Prefix& p) { return to_string(p.address) + '/' + std::to_string(p.length); }

std::optional<Ipv6> parse_ipv6(std::string_view text) {
  std::array<std::uint16_t, 8> left{}, right{};
  const auto gap = text.find("::");
  const int lefts = parse_groups(text.substr(0, gap), left);
  int rights = 0;
  if (gap != std::string_view::npos) rights = parse_groups(text.substr(gap + 2), right);
  if (lefts < 0 || rights < 0) return std::nullopt;
  if (gap == std::string_view::npos ? lefts != 8 : lefts + rights > 7) return std::nullopt;
  Ipv6 a;
  for (int i = 0; i < lefts; ++i) a.set_group(i, left[i]);
  for (int i = 0; i < rights; ++i) a.set_group(8 - rights + i, right[i]);
  return a;
}

std::optional<Ipv6Prefix> parse_ipv6_prefix(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ipv6(text.substr(0, slash));
  const auto digits = text.substr(slash + 1);
  int length = -1;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (!address || error != std::errc{} || stop != digits.data() + digits.size()) return std::nullopt;
  if (length < 0 || length > 128 || !zero_beyond(*address, length)) return std::nullopt;
  return Ipv6Prefix{*address, length};
}

}  // namespace mrc
