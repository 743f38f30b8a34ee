#include "tools/wire_options.h"

#include <CLI/CLI.hpp>
#include <string>

namespace mrc::tools {
namespace {

constexpr const char* kGroup = "Wire settings";

void add_dscp(CLI::App& app, const std::string& option, std::uint8_t& dscp) {
  // CLI11 would read a std::uint8_t as a character.
  app.add_option_function<unsigned>(
         option, [&dscp](unsigned v) { dscp = static_cast<std::uint8_t>(v); },
         "DSCP of this class (" + std::to_string(dscp) + ")")
      ->check(CLI::Range(0u, 63u))
      ->group(kGroup);
}

}  // namespace

void add_wire_options(CLI::App& app, wire::Settings& settings) {
  app.add_option("--udp-port", settings.udp_port, "UDP destination port of MRC (4791)")->group(kGroup);
  app.add_option_function<std::string>(
         "--ev-halves",
         [&settings](const std::string& v) {
           settings.ev_halves = v == "port-high" ? wire::EvHalves::port_high : wire::EvHalves::port_low;
         },
         "which half of the EV the UDP source port holds (port-low)")
      ->check(CLI::IsMember({"port-low", "port-high"}))
      ->group(kGroup);
  app.add_flag_function(
         "--no-icrc", [&settings](std::int64_t) { settings.check_icrc = false; }, "do not check the iCRC")
      ->group(kGroup);
  add_dscp(app, "--dscp-no-trim", settings.dscp_no_trim);
  add_dscp(app, "--dscp-trimmable", settings.dscp_trimmable);
  add_dscp(app, "--dscp-trimmable-retx", settings.dscp_trimmable_retx);
  add_dscp(app, "--dscp-control", settings.dscp_control);
  add_dscp(app, "--dscp-trimmed", settings.dscp_trimmed);
  add_dscp(app, "--dscp-trimmed-lasthop", settings.dscp_trimmed_lasthop);
}

}  // namespace mrc::tools
