// Text files of words in lines: reading them, and complaining about them in one form: file, line, what,
// remedy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mrc::sim {

Result<std::string> read_text(const std::string& path);

struct TextLine {
  int number = 0;  // 1-based
  std::vector<std::string_view> words;
};

/// The non-empty lines of `text`, cut into words at blanks, without what follows a '#' or "//".
std::vector<TextLine> words_by_line(std::string_view text);

/// "perm.cm:12: what; remedy".
Error error_at(std::string_view file, int line, std::string_view what, std::string_view remedy);

/// What files may ask for at most: sums of a few of them are far from where 64 bits end.
inline constexpr std::uint64_t kMostBytes = 1'000'000'000'000'000;
inline constexpr std::uint64_t kMostNs = 1'000'000'000'000'000;  // 11 days

/// The whole word as a number; nothing when it is anything else or too big.
std::optional<std::uint64_t> parse_number(std::string_view word);
/// Digits alone: what parse_number refuses of these is too big.
bool is_digits(std::string_view word);
/// Also "1e6" and "2.5": htsim writes times so. Rounded to the nearest whole.
std::optional<std::uint64_t> parse_real(std::string_view word);
std::string lower_case(std::string_view word);

}  // namespace mrc::sim
