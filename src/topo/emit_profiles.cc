// EV profiles for a node's device: the format once, then per destination host the row's template and its EVs.
#include <nlohmann/json.hpp>

#include "topo/emit.h"
#include "topo/select.h"
#include "topo/template.h"

namespace mrc::topo {
namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Json fields_json(const Template& t) {
  Json fields = Json::array();
  for (const TemplateField& f : t.fields) {
    fields.push_back({{"width", f.width}, {"init_val", hex(f.init)}, {"mask", hex(f.mask)}});
  }
  return fields;
}

Json ev_json(const Topology& topo, const Template& t, HostId source, HostId destination, const Choice& c) {
  const std::uint64_t value = profile_value(topo, t, source, destination, c);
  return {{"ev", hex(topo.ev(c).value)},
          {"port", c.plane + 1},
          {"value", hex(value)},
          {"carrier", to_string(expand(t, value))}};
}

}  // namespace

std::string emit_ev_profile(const Topology& topo, HostId source, HostId destination,
                            std::uint32_t per_plane) {
  const Template t = row_template(topo, source, destination);
  Json evs = Json::array();
  for (const Choice& c : select_choices(topo, source, destination, per_plane)) {
    evs.push_back(ev_json(topo, t, source, destination, c));
  }
  Json addresses = Json::array();
  for (Plane p = 0; p < topo.planes(); ++p) addresses.push_back(to_string(topo.address(destination, p)));
  const Json profile = {{"source", topo.name(host_node(source))},
                        {"destination", topo.name(host_node(destination))},
                        {"addresses", addresses},
                        {"format", "srv6"},
                        {"mode", "explicit"},
                        {"ev_bits", t.ev_bits()},
                        {"fields", fields_json(t)},
                        {"evs", evs}};
  return profile.dump();
}

}  // namespace mrc::topo
