// openmrc/planes.h: how the planes of one queue pair stand.
#include <openmrc/planes.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/api_objects.h"

using namespace mrc::lib;

extern "C" int openmrc_query_planes(mrc_qp* qp, openmrc_plane* planes, int count) {
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
