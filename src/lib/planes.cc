// openmrc/planes.h: how the planes of one queue pair stand.
#include <openmrc/planes.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "lib/api_objects.h"

using namespace mrc::lib;

namespace {

std::string describe(const openmrc_plane& p) {
  const char* state = p.link_up == 0 ? "down" : p.usable != 0 ? "up" : "up, the peer's port down";
  return std::string(p.interface_name) + " " + state + ", " + std::to_string(p.evs_good) + " of " +
         std::to_string(p.evs) + " EVs good";
}

}  // namespace

extern "C" {

int openmrc_query_planes(mrc_qp* qp, openmrc_plane* planes, int count) {
  if (qp == nullptr || planes == nullptr || count < 0) return errno = EINVAL, -1;
  const std::vector<PlaneStatus> known = qp->shell->planes();
  if (known.empty()) return errno = ENOTCONN, -1;
  const Device& device = *qp->context->device;
  for (std::size_t i = 0; i < std::min(known.size(), static_cast<std::size_t>(count)); ++i) {
    const PlaneStatus& from = known[i];
    openmrc_plane& to = planes[i];
    to = {};
    const std::string& name = device.config().ports[from.port.value - 1u].interface.name;
    std::memcpy(to.interface_name, name.c_str(), std::min(name.size(), sizeof to.interface_name - 1));
    to.port_num = from.port.value;
    to.link_up = device.port_status(from.port).active();
    to.usable = from.usable;
    to.evs = from.evs;
    to.evs_good = from.good;
  }
  return static_cast<int>(known.size());
}

int openmrc_describe_planes(mrc_qp* qp, char* text, size_t size) {
  if (text == nullptr && size > 0) return errno = EINVAL, -1;
  std::array<openmrc_plane, mrc::kMaxPorts> planes;
  const int count = openmrc_query_planes(qp, planes.data(), static_cast<int>(planes.size()));
  if (count < 0) return -1;
  std::string line;
  for (int i = 0; i < count; ++i) line += (i > 0 ? "; " : "") + describe(planes[static_cast<std::size_t>(i)]);
  return std::snprintf(text, size, "%s", line.c_str());
}

}  // extern "C"
