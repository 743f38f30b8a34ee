#include "tools/text.h"

#include <cstdio>

namespace mrc::tools {

std::string hex(std::uint64_t v, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(v));
  return text;
}

std::string seconds(Duration d) {
  const bool negative = d < Duration::zero();
  const auto ns = static_cast<unsigned long long>(negative ? -d.count() : d.count());
  char text[40];
  std::snprintf(text, sizeof text, "%s%llu.%09llu", negative ? "-" : "", ns / 1'000'000'000,
                ns % 1'000'000'000);
  return text;
}

std::string sacked_ranges(const wire::Sack& sack) {
  std::string text;
  for (int i = 0; i < 64; ++i) {
    if ((sack.bitmap >> i & 1) == 0) continue;
    const int from = i;
    while (i < 63 && (sack.bitmap >> (i + 1) & 1) != 0) ++i;
    const Psn first = sack.cack_psn + sack.sack_offset + from, last = sack.cack_psn + sack.sack_offset + i;
    if (!text.empty()) text += ',';
    text += std::to_string(first.value());
    if (first != last) text += "-" + std::to_string(last.value());
  }
  return text;
}

}  // namespace mrc::tools
