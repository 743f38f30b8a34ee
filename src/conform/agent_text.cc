#include "conform/agent_text.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <map>

namespace mrc::conform {
namespace {

Error nonsense(std::string_view what) {
  return {EPROTO, "not understood: '" + std::string(what.substr(0, 80)) + "'"};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(at);
    if (end != 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return parts;
}

bool number(std::string_view text, std::uint64_t most, std::uint64_t& out) {
  int base = 10;
  if (text.starts_with("0x")) text.remove_prefix(2), base = 16;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size() && out <= most;
}

/// key=value words; numbers are taken out by name, and a missing one is an error.
class Fields {
 public:
  explicit Fields(std::string_view words) {
    for (const std::string_view word : split(words, ' ')) {
      const std::size_t equals = word.find('=');
      if (equals != std::string_view::npos)
        values_[std::string(word.substr(0, equals))] = word.substr(equals + 1);
    }
  }
  std::uint64_t take(const char* name, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto found = values_.find(name);
    if (found == values_.end() || !number(found->second, most, value)) missing_ = name;
    return value;
  }
  /// Of testers that don't ask for it.
  std::uint64_t take_if_there(const char* name, std::uint64_t most) {
    return values_.count(name) > 0 ? take(name, most) : 0;
  }
  std::string text(const char* name) { return std::string(values_[name]); }
  const std::string& missing() const { return missing_; }

 private:
  std::map<std::string, std::string_view> values_;
  std::string missing_;
};

std::string word(const char* name, std::uint64_t value) {
  return std::string(" ") + name + "=" + std::to_string(value);
}

constexpr std::array<std::string_view, 7> kStatus = {"success",
                                                     "flushed",
                                                     "retry_exceeded",
                                                     "remote_access_error",
                                                     "remote_invalid_request",
                                                     "remote_operation_error",
                                                     "local_protection_error"};

}  // namespace

std::string to_text(const ConnectRequest& r) {
  const Terms& t = r.terms;
  return "connect address=" + r.tester + word("qpn", t.qpn.value) + word("psn", t.psn.value()) +
         word("mtu", t.mtu) + word("mpr", t.mpr) + word("max_wimm", t.max_wimm) + word("timeout", t.timeout) +
         word("linear", t.linear_retries) + word("exponential", t.exponential_retries) +
         word("receives", t.receives) + word("controlled", t.controlled) +
         word("window", t.congestion.window) + word("base_rtt", t.congestion.base_rtt);
}

Result<ConnectRequest> parse_connect(std::string_view words) {
  Fields f(words);
  ConnectRequest r;
  r.tester = f.text("address");
  r.terms.qpn = Qpn(static_cast<std::uint32_t>(f.take("qpn", 0xFFFFFF)));
  r.terms.psn = Psn(static_cast<std::uint32_t>(f.take("psn", 0xFFFFFF)));
  r.terms.mtu = static_cast<std::uint16_t>(f.take("mtu", 4096));
  r.terms.mpr = static_cast<std::uint8_t>(f.take("mpr", 255));
  r.terms.max_wimm = static_cast<std::uint16_t>(f.take("max_wimm", 0xFFFF));
  r.terms.timeout = static_cast<std::uint8_t>(f.take("timeout", 24));
  r.terms.linear_retries = static_cast<std::uint8_t>(f.take("linear", 7));
  r.terms.exponential_retries = static_cast<std::uint8_t>(f.take("exponential", 25));
  r.terms.receives = static_cast<std::uint16_t>(f.take("receives", 1024));
  r.terms.controlled = f.take("controlled", 1) != 0;
  r.terms.congestion.window = static_cast<std::uint32_t>(f.take_if_there("window", 1 << 30));
  r.terms.congestion.base_rtt = static_cast<std::uint32_t>(f.take_if_there("base_rtt", 1'000'000'000));
  if (!f.missing().empty()) return Error{EPROTO, "connect: " + f.missing() + " is missing or out of range"};
  return r;
}

std::string to_text(const Target& t) {
  return word("qpn", t.qpn.value).substr(1) + word("psn", t.psn.value()) + word("rkey", t.rkey.value) +
         word("va", t.va) + word("length", t.length) + word("mtu", t.mtu) + word("mpr", t.mpr) +
         word("max_wimm", t.max_wimm);
}

Result<Target> parse_target(std::string_view words) {
  Fields f(words);
  Target t;
  t.qpn = Qpn(static_cast<std::uint32_t>(f.take("qpn", 0xFFFFFF)));
  t.psn = Psn(static_cast<std::uint32_t>(f.take("psn", 0xFFFFFF)));
  t.rkey = RKey(static_cast<std::uint32_t>(f.take("rkey", 0xFFFFFFFF)));
  t.va = f.take("va", ~std::uint64_t{0});
  t.length = static_cast<std::uint32_t>(f.take("length", 0xFFFFFFFF));
  t.mtu = static_cast<std::uint16_t>(f.take("mtu", 4096));
  t.mpr = static_cast<std::uint8_t>(f.take("mpr", 255));
  t.max_wimm = static_cast<std::uint16_t>(f.take("max_wimm", 0xFFFF));
  if (!f.missing().empty()) return Error{EPROTO, "the device's answer lacks a proper " + f.missing()};
  if (t.length < 128 * 1024) return Error{EINVAL, "the device offers less than 128 KiB of memory"};
  return t;
}

std::string to_text(const std::vector<PostedWrite>& writes) {
  std::string text;
  for (const PostedWrite& w : writes) {
    text += (text.empty() ? "" : " ") + std::to_string(w.id) + ":" + std::to_string(w.length);
    if (w.has_imm) text += ":" + std::to_string(w.imm);
  }
  return text;
}

Result<std::vector<PostedWrite>> parse_writes(std::string_view words) {
  std::vector<PostedWrite> writes;
  for (const std::string_view w : split(words, ' ')) {
    const auto parts = split(w, ':');
    std::uint64_t id = 0, length = 0, imm = 0;
    if (parts.size() < 2 || parts.size() > 3 || !number(parts[0], ~std::uint64_t{0}, id) ||
        !number(parts[1], 1 << 20, length) || (parts.size() == 3 && !number(parts[2], 0xFFFFFFFF, imm))) {
      return nonsense(w);
    }
    writes.push_back(
        {id, static_cast<std::uint32_t>(length), parts.size() == 3, static_cast<std::uint32_t>(imm)});
  }
  return writes;
}

std::string to_text(const std::vector<Completed>& done) {
  std::string text;
  for (const Completed& c : done) {
    text += (text.empty() ? "" : " ") + std::to_string(c.id) + (c.receive ? ":receive:" : ":send:") +
            std::string(kStatus[static_cast<std::size_t>(c.status)]);
    if (c.has_imm) text += ":" + std::to_string(c.imm);
  }
  return text;
}

Result<std::vector<Completed>> parse_completions(std::string_view words) {
  std::vector<Completed> done;
  for (const std::string_view w : split(words, ' ')) {
    const auto parts = split(w, ':');
    std::uint64_t id = 0, imm = 0;
    if (parts.size() < 3 || parts.size() > 4 || !number(parts[0], ~std::uint64_t{0}, id) ||
        (parts.size() == 4 && !number(parts[3], 0xFFFFFFFF, imm))) {
      return nonsense(w);
    }
    std::size_t status = 0;
    while (status < kStatus.size() && kStatus[status] != parts[2]) ++status;
    if (status == kStatus.size()) return nonsense(w);
    done.push_back({id, parts[1] == "receive", static_cast<engine::WorkStatus>(status), parts.size() == 4,
                    static_cast<std::uint32_t>(imm)});
  }
  return done;
}

std::string to_hex(const std::vector<std::uint8_t>& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t b : bytes) text += {kDigits[b >> 4], kDigits[b & 15]};
  return text;
}

Result<std::vector<std::uint8_t>> parse_hex(std::string_view text) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    std::uint8_t b = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + i + 2, b, 16);
    if (error != std::errc{} || end != text.data() + i + 2) return nonsense(text);
    bytes.push_back(b);
  }
  return text.size() % 2 == 0 ? Result(bytes) : nonsense(text);
}

}  // namespace mrc::conform
