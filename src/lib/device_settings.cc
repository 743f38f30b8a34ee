#include "lib/device_settings.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/size.h"
#include "node/message_socket.h"
#include "node/metrics_page.h"

namespace mrc::lib {
namespace {

/// Overwrites `value` when the variable is set; false when it is set to something else than a number in
/// range.
template <class T>
bool read_number(const char* name, std::uint64_t low, std::uint64_t high, T& value) {
  const char* text = std::getenv(name);
  if (text == nullptr) return true;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  if (error != std::errc{} || *end != 0 || number < low || number > high) return false;
  value = static_cast<T>(number);
  return true;
}

Error out_of_range(const char* name, std::uint64_t low, std::uint64_t high) {
  return {EINVAL, std::string(name) + "=" + std::getenv(name) + " is not a number from " +
                      std::to_string(low) + " to " + std::to_string(high)};
}

/// The same for a number of bytes.
Status read_bytes(const char* name, std::uint64_t low, std::uint64_t high, std::uint32_t& value) {
  const char* text = std::getenv(name);
  if (text == nullptr) return Done{};
  const auto bytes = parse_size(text);
  if (!bytes || *bytes < low || *bytes > high)
    return Error{EINVAL, std::string(name) + "=" + text + " is not a size from " + std::to_string(low) +
                             " to " + std::to_string(high) + ": write it as " + kSizeExamples};
  value = static_cast<std::uint32_t>(*bytes);
  return Done{};
}

bool read_port(DeviceSettings& settings) {
  const char* text = std::getenv("MRC_PORT");
  if (text == nullptr) return true;
  const std::string_view word = text;
  if (word == "udp") return settings.port = PortKind::udp, true;
  if (word == "packet") return settings.port = PortKind::packet, true;
  if (word == "xdp") return settings.port = PortKind::xdp, true;
  return false;
}

}  // namespace

Status read_cc(std::string_view text, DeviceSettings& out) {
  constexpr std::string_view kConstant = "constant:";
  constexpr std::uint64_t kLeastWindow = 8192;
  if (text == "nscc") return out.cc = engine::CcAlgorithm::nscc, Done{};
  if (text == "off") return out.cc = engine::CcAlgorithm::off, Done{};
  const auto window = text.starts_with(kConstant) ? parse_size(text.substr(kConstant.size()))
                                                  : std::optional<std::uint64_t>();
  if (!window || *window < kLeastWindow || *window > UINT32_MAX)
    return Error{EINVAL, "'" + std::string(text) +
                             "' is no congestion control: write nscc, off, or constant: and a window of at "
                             "least 8K bytes, such as constant:128K"};
  out.cc = engine::CcAlgorithm::constant;
  out.cc_window = static_cast<std::uint32_t>(*window);
  return Done{};
}

Result<DeviceSettings> read_device_settings() {
  DeviceSettings s;
  if (!read_number("MRC_UDP_PORT", 1, 65535, s.udp_port)) return out_of_range("MRC_UDP_PORT", 1, 65535);
  if (!read_number("MRC_SPRAY_UNIT", 0, kMaxSprayUnit, s.spray_unit))
    return out_of_range("MRC_SPRAY_UNIT", 0, kMaxSprayUnit);
  if (!read_number("MRC_ASK_AHEAD", 0, 7, s.ask_ahead)) return out_of_range("MRC_ASK_AHEAD", 0, 7);
  if (!read_number("MRC_ANSWERS_FOLLOW", 0, 1, s.answers_follow))
    return out_of_range("MRC_ANSWERS_FOLLOW", 0, 1);
  if (!read_number("MRC_RESTORE_AT_END", 0, 1, s.restore_at_end))
    return out_of_range("MRC_RESTORE_AT_END", 0, 1);
  if (!read_number("MRC_TAIL", 0, 255, s.tail)) return out_of_range("MRC_TAIL", 0, 255);
  if (!read_number("MRC_EVS", 1, 1024, s.evs)) return out_of_range("MRC_EVS", 1, 1024);
  if (!read_number("MRC_ICRC", 0, 1, s.icrc)) return out_of_range("MRC_ICRC", 0, 1);
  if (!read_number("MRC_MAILBOX", 0, 1, s.mailbox)) return out_of_range("MRC_MAILBOX", 0, 1);
  std::uint32_t spin = static_cast<std::uint32_t>(s.spin / 1us);
  if (!read_number("MRC_SPIN_US", 0, 1'000'000, spin)) return out_of_range("MRC_SPIN_US", 0, 1'000'000);
  s.spin = spin * 1us;
  std::uint32_t aside = static_cast<std::uint32_t>(s.aside / 1us);
  if (!read_number("MRC_ASIDE_US", 0, 1'000'000, aside)) return out_of_range("MRC_ASIDE_US", 0, 1'000'000);
  s.aside = aside * 1us;
  std::uint32_t slack = static_cast<std::uint32_t>(s.suspect_slack / 1us);
  if (!read_number("MRC_SLACK_US", 2, 1'000'000, slack)) return out_of_range("MRC_SLACK_US", 2, 1'000'000);
  s.suspect_slack = slack * 1us;
  std::uint32_t queue = static_cast<std::uint32_t>(s.learn_queue / 1us);
  if (!read_number("MRC_QUEUE_US", 0, 1'000'000, queue)) return out_of_range("MRC_QUEUE_US", 0, 1'000'000);
  s.learn_queue = queue * 1us;
  s.socket = node::daemon_socket();
  if (const char* text = std::getenv("MRC_METRICS"); text != nullptr && *text != 0) {
    if (auto where = node::parse_metrics_address(text); !where) return where.error();
    s.metrics = text;
  }
  if (auto read = read_bytes("MRC_SACK_BYTES", 1024, 1 << 20, s.sack_bytes); !read) return read.error();
  if (const char* text = std::getenv("MRC_CC")) {
    if (auto read = read_cc(text, s); !read) return Error{EINVAL, "MRC_CC: " + read.error().what};
  }
  if (!read_port(s)) return Error{EINVAL, "MRC_PORT must be udp, packet or xdp"};
  if (const char* text = std::getenv("MRC_DSCP")) {
    if (auto read = read_dscp(text, s.wire); !read) return read.error();
  }
  if (const char* text = std::getenv("MRC_LEVELS")) {
    if (auto read = read_levels(text, s.scheduler); !read) return read.error();
  }
  return s;
}

}  // namespace mrc::lib
