// Numbers of things as people say them: one packet, two packets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mrc {

/// "1 packet", "0 packets"; a switch, a loss and a retry become switches, losses and retries.
inline std::string counted(std::uint64_t n, std::string_view noun) {
  std::string text = std::to_string(n) + " " + std::string(noun);
  if (n == 1) return text;
  if (noun.ends_with('y')) {
    text.pop_back();
    return text + "ies";
  }
  return text + (noun.ends_with('s') || noun.ends_with("ch") ? "es" : "s");
}

}  // namespace mrc
