// What a tester and the hand on a device say to each other over TCP: one line asked, one line answered. The
// format is documented in docs/vendor/conform.md, so that a vendor's own program can be the hand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "conform/device.h"

namespace mrc::conform {

inline constexpr std::size_t kLongestLine = 64 * 1024;

struct ConnectRequest {
  Terms terms;
  std::string tester;  // address
};

std::string to_text(const ConnectRequest& request);  // "connect address=... qpn=... ..."
Result<ConnectRequest> parse_connect(std::string_view words);
std::string to_text(const Target& target);
Result<Target> parse_target(std::string_view words);
std::string to_text(const std::vector<PostedWrite>& writes);  // "id:length[:imm] ..."
Result<std::vector<PostedWrite>> parse_writes(std::string_view words);
std::string to_text(const std::vector<Completed>& done);  // "id:send|receive:status[:imm] ..."
Result<std::vector<Completed>> parse_completions(std::string_view words);
std::string to_hex(const std::vector<std::uint8_t>& bytes);
Result<std::vector<std::uint8_t>> parse_hex(std::string_view text);

}  // namespace mrc::conform
