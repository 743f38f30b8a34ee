// EV profiles for a host's device, as `mrc ctl profiles create` reads them: the format once, then per
// destination host the row's template and its EVs. TOML, because people read it too.
#include <string>

#include "topo/emit.h"
#include "topo/template.h"

namespace mrc::topo {
namespace {

constexpr int kFormat = 1;

std::string hex(std::uint64_t value, int digits = 1) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%0*llx", digits, static_cast<unsigned long long>(value));
  return text;
}

/// The controller's EVs are strings of bits, from the first bit on.
std::string bits(std::uint64_t value, int count) {
  const int digits = (count + 3) / 4;
  return hex(value << (4 * digits - count), digits);
}

std::string fields_of(const Template& t) {
  std::string text;
  for (const TemplateField& f : t.fields) {
    text += text.empty() ? "" : ", ";
    text +=
        "{ width = " + std::to_string(f.width) + ", init = " + hex(f.init) + ", mask = " + hex(f.mask) + " }";
  }
  return text;
}

std::string line_of(const Topology& topo, const Template& t, HostId source, HostId destination,
                    const Choice& c) {
  const std::uint64_t value = profile_value(topo, t, source, destination, c);
  return "  { ev = \"" + bits(value, t.ev_bits()) + "\", port = " + std::to_string(c.plane + 1) + " },  # " +
         hex(topo.ev(c).value) + " " + to_string(expand(t, value)) + "\n";
}

}  // namespace

std::string emit_ev_format(const Topology& topo, HostId source, HostId destination) {
  std::string widths;
  for (const TemplateField& f : row_template(topo, source, destination).fields)
    widths += (widths.empty() ? "" : ", ") + std::to_string(f.width);
  return "# For " + topo.name(host_node(source)) +
         ": `mrc ctl profiles create FILE.toml` takes it.\n[format." + std::to_string(kFormat) +
         "]\nmode = \"srv6\"\nwidths = [" + widths + "]\n";
}

std::string emit_ev_profile(const Topology& topo, HostId source, HostId destination, std::uint32_t per_plane,
                            std::span<const SlowEvs> slow) {
  const Template t = row_template(topo, source, destination);
  std::string text = "\n# To " + topo.name(host_node(destination)) + ":";
  for (Plane p = 0; p < topo.planes(); ++p) text += " " + to_string(topo.address(destination, p));
  text += ".\n[ev." + std::to_string(ev_profile_id(destination)) +
          "]\nmode = \"explicit\"\nformat = " + std::to_string(kFormat) + "\nfields = [" + fields_of(t) +
          "]\nevs = [  # EV in packets, carrier\n";
  for (const Choice& c : repeat_by_speed(select_choices(topo, source, destination, per_plane), slow))
    text += line_of(topo, t, source, destination, c);
  return text + "]\n";
}

}  // namespace mrc::topo
