// Bytes as people write them, in variables, on command lines and in files alike.
#pragma once

#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mrc {

inline constexpr const char* kSizeExamples = "65536, 64K or 1.5M (K is 1024, kB is 1000)";

/// 65536, 64K = 64Ki = 64KiB, 64kB = 64000, up to T; upper or lower case, fractions too. At most 10^15.
inline std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr double kMost = 1e15;
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || text.front() == '-') return std::nullopt;
  std::string unit;
  for (const char c : text.substr(static_cast<std::size_t>(stop - text.data())))
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view kLetters = "kmgt";
  const std::size_t power = unit.empty() ? std::string_view::npos : kLetters.find(unit[0]);
  if (power != std::string_view::npos) {
    const std::string_view rest = std::string_view(unit).substr(1);
    if (rest != "" && rest != "i" && rest != "ib" && rest != "b") return std::nullopt;
    number *= std::pow(rest == "b" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  } else if (!unit.empty() && unit != "b") {
    return std::nullopt;
  }
  if (!(number >= 0 && number <= kMost)) return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(number));
}

}  // namespace mrc
