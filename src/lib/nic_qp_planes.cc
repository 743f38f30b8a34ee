// What a queue pair knows of its planes.
#include <algorithm>

#include "lib/nic_device.h"
#include "lib/nic_qp.h"

namespace mrc::lib {

std::vector<PlaneStatus> NicQp::planes() const {
  const NicDevice::Hold hold(device_);
  std::vector<PlaneStatus> found;
  if (!qp_->engine) return found;
  const engine::PathSet& paths = qp_->engine->paths();
  // Silence of everybody withdraws no EV, since it may be the peer. But who gave up for it knows of none that
  // is good.
  const bool reached_nobody = qp_->engine->requestor().failure() == engine::WorkStatus::retry_exceeded;
  for (int i = 0; i < paths.size(); ++i) {
    const EvSlot slot(static_cast<std::uint16_t>(i));
    const PortId port = paths.path(slot).port;
    auto plane =
        std::find_if(found.begin(), found.end(), [&](const PlaneStatus& p) { return p.port == port; });
    if (plane == found.end()) plane = found.insert(found.end(), {port, paths.port_usable(port), 0, 0});
    const engine::EvState state = paths.state(paths.known_as(slot));
    ++plane->evs;
    // An EV keeps its state while its port is down, and yet nothing leaves by it.
    const bool leads_on = plane->usable && !reached_nobody;
    plane->good += leads_on && (state == engine::EvState::good || state == engine::EvState::skip);
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.port.value < b.port.value; });
  return found;
}

}  // namespace mrc::lib
