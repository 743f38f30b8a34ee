// Rates and delays as people write them.
#include <cerrno>
#include <charconv>
#include <cmath>
#include <span>

#include "topo/spec.h"

namespace mrc::topo {
namespace {

struct Unit {
  std::string_view suffix;
  double factor;
};
constexpr Unit kRateUnits[] = {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}};
constexpr Unit kDelayUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr double kLargest = 1e15;

/// A positive number and one of the units, as a whole number of base units.
Result<std::uint64_t> parse_quantity(std::string_view text, std::span<const Unit> units,
                                     const char* example) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view suffix = text.substr(static_cast<std::size_t>(stop - text.data()));
  for (const Unit& unit : units) {
    const double value = number * unit.factor;
    if (error == std::errc{} && suffix == unit.suffix && value >= 0 && value <= kLargest)
      return static_cast<std::uint64_t>(std::llround(value));
  }
  return Error{EINVAL, "\"" + std::string(text) + "\" is not understood; write it as " + example};
}

std::string quantity_text(std::uint64_t value, std::span<const Unit> largest_first,
                          std::string_view base_suffix) {
  for (const Unit& unit : largest_first) {
    const auto factor = static_cast<std::uint64_t>(unit.factor);
    if (value >= factor && value % factor == 0)
      return std::to_string(value / factor) + std::string(unit.suffix);
  }
  return std::to_string(value) + std::string(base_suffix);
}

}  // namespace

Result<std::uint64_t> parse_rate(std::string_view text) {
  return parse_quantity(text, kRateUnits, "\"100G\", \"2.5G\" or \"40M\" (bits per second)");
}

Result<Duration> parse_delay(std::string_view text) {
  auto ns = parse_quantity(text, kDelayUnits, "\"500ns\", \"1us\" or \"2ms\"");
  if (!ns) return ns.error();
  return Duration(static_cast<std::int64_t>(*ns));
}

std::string rate_text(std::uint64_t bits_per_second) {
  if (bits_per_second % 1000 != 0 || bits_per_second == 0)  // no unit below k: write it as a fraction of one
    return std::to_string(bits_per_second / 1000) + "." +
           std::to_string(1000 + bits_per_second % 1000).substr(1) + "k";
  return quantity_text(bits_per_second, kRateUnits, "");
}

std::string delay_text(Duration delay) {
  if (delay < Duration{0}) return std::to_string(delay.count()) + "ns";
  constexpr Unit kLargestFirst[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
  return quantity_text(static_cast<std::uint64_t>(delay.count()), kLargestFirst, "ns");
}

}  // namespace mrc::topo
