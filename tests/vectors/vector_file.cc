#include "vector_file.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace mrc::vectors {
namespace {

[[noreturn]] void stop(const std::string& where, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", where.c_str(), what.c_str());
  std::exit(1);
}

std::vector<std::uint8_t> from_hex(std::string_view text, const std::string& where) {
  std::string digits;
  std::ranges::copy_if(text, std::back_inserter(digits), [](char c) { return c != '\n'; });
  if (digits.size() % 2 != 0) stop(where, "an odd number of hex digits");
  std::vector<std::uint8_t> out;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    out.push_back(static_cast<std::uint8_t>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  }
  return out;
}

std::uint64_t number(const toml::node& node) {
  if (const auto v = node.value<std::int64_t>()) return static_cast<std::uint64_t>(*v);
  return std::stoull(node.value_or(std::string("0")), nullptr, 0);
}

void apply(wire::Settings& s, std::string_view name, const toml::node& v, const std::string& where) {
  const std::string word = v.value_or(std::string());
  const auto n = static_cast<std::uint16_t>(v.value_or(std::int64_t{0}));
  if (name == "udp_port")
    s.udp_port = n;
  else if (name == "bth_flags")
    s.bth_flags = word == "swapped" ? wire::FlagOrder::swapped : wire::FlagOrder::ibta;
  else if (name == "ev_halves")
    s.ev_halves = word == "port_high" ? wire::EvHalves::port_high : wire::EvHalves::port_low;
  else if (name == "nack_cc_type")
    s.nack_cc_type = static_cast<std::uint8_t>(n);
  else if (name == "endpoint_response_op_shift")
    s.endpoint_response_op_shift = static_cast<std::uint8_t>(n);
  else if (name == "dscp_trimmable")
    s.dscp_trimmable = static_cast<std::uint8_t>(n);
  else if (name == "check_udp_checksum")
    s.check_udp_checksum = v.value_or(true);
  else if (name == "accept_zero_udp6_checksum")
    s.accept_zero_udp6_checksum = v.value_or(true);
  else
    stop(where, "unknown setting " + std::string(name));
}

Vector read_one(const toml::table& t, const std::string& file) {
  Vector out;
  out.file = file;
  out.name = t["name"].value_or(std::string());
  const std::string where = file + ": " + out.name;
  out.level = t["level"].value_or(std::string());
  out.verdict = t["verdict"].value_or(std::string());
  out.emit = t["emit"].value_or(true);
  out.bytes = from_hex(t["bytes"].value_or(std::string()), where);
  out.payload = from_hex(t["payload"].value_or(std::string()), where);
  for (const auto& [key, node] : t) {
    const auto* sub = node.as_table();
    if (sub == nullptr) continue;
    for (const auto& [name, value] : *sub) {
      const std::string full = std::string(key.str()) + "." + std::string(name.str());
      if (key.str() == "settings")
        apply(out.settings, name.str(), value, where);
      else if (key.str() != "net")
        out.fields[full] = number(value);
      else if (value.is_string())
        out.net[std::string(name.str())] = value.value_or(std::string());
      else
        out.net_numbers[std::string(name.str())] = number(value);
    }
  }
  return out;
}

}  // namespace

std::vector<Vector> read_all(const std::string& directory) {
  std::vector<Vector> out;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".toml") continue;
    const std::string file = entry.path().filename().string();
    const toml::table table = toml::parse_file(entry.path().string());
    const auto* vectors = table["vector"].as_array();
    if (vectors == nullptr) stop(file, "no [[vector]] in it");
    for (const auto& node : *vectors) out.push_back(read_one(*node.as_table(), file));
  }
  return out;
}

}  // namespace mrc::vectors
