#include "tools/topology_options.h"

#include <CLI/CLI.hpp>

namespace mrc::tools {
namespace {

void set(std::uint32_t& out, const std::optional<std::uint32_t>& given) {
  if (given) out = *given;
}

Result<Done> set_links(topo::Spec& spec, const TopologyOptions& o) {
  for (topo::LinkSpec* link : {&spec.host_link, &spec.t0_t1, &spec.t1_t2}) {
    if (!o.rate.empty()) {
      const auto rate = topo::parse_rate(o.rate);
      if (!rate) return Error{rate.error().code, "--rate " + rate.error().what};
      link->bits_per_second = *rate;
    }
    if (!o.delay.empty()) {
      const auto delay = topo::parse_delay(o.delay);
      if (!delay) return Error{delay.error().code, "--delay " + delay.error().what};
      link->delay = *delay;
    }
  }
  return Done{};
}

}  // namespace

Result<topo::Topology> TopologyOptions::make() const {
  topo::Spec spec;
  if (!file.empty()) {
    auto read = topo::read_spec(file);
    if (!read) return read.error();
    spec = *read;
  }
  set(spec.planes, planes);
  set(spec.tiers, tiers);
  set(spec.pods, pods);
  set(spec.t0, t0);
  set(spec.t1, t1);
  set(spec.t2, t2);
  set(spec.hosts_per_t0, hosts_per_t0);
  set(spec.hosts, hosts);
  set(spec.radix, radix);
  if (auto done = set_links(spec, *this); !done) return done.error();
  return topo::Topology::make(spec);
}

std::shared_ptr<TopologyOptions> add_topology_options(CLI::App& app) {
  auto o = std::make_shared<TopologyOptions>();
  const char* group = "Fabric";
  app.add_option("-f,--file", o->file, "TOML file with a [topology] table; flags below override it")
      ->group(group);
  const topo::Spec plain;
  const auto count = [&](const char* name, std::optional<std::uint32_t>& out, const std::string& what,
                         std::uint32_t otherwise) {
    app.add_option(name, out, what + (otherwise > 0 ? " (" + std::to_string(otherwise) + ")" : ""))
        ->group(group);
  };
  count("--planes", o->planes, "planes, one NIC port each", plain.planes);
  count("--tiers", o->tiers, "1, 2 or 3", plain.tiers);
  count("--pods", o->pods, "pods, with 3 tiers", plain.pods);
  count("--t0", o->t0, "T0 switches per pod and plane", plain.t0);
  count("--t1", o->t1, "T1 switches per pod and plane: uplinks of a T0", plain.t1);
  count("--t2", o->t2, "uplinks of a T1, with 3 tiers", plain.t2);
  count("--hosts-per-t0", o->hosts_per_t0, "downlinks of a T0", plain.hosts_per_t0);
  count("--hosts", o->hosts, "hosts, when fewer than downlinks", plain.hosts);
  count("--radix", o->radix, "ports of a switch: checked when given", plain.radix);
  app.add_option("--rate", o->rate,
                 "rate of every link (" + topo::rate_text(plain.host_link.bits_per_second) + ")")
      ->group(group);
  app.add_option("--delay", o->delay, "delay of every link (" + topo::delay_text(plain.host_link.delay) + ")")
      ->group(group);
  return o;
}

}  // namespace mrc::tools
