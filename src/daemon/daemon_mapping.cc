// What the mapper finds becomes denied EVs, for every process.
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/daemon.h"

namespace mrc::daemon {

void Daemon::map_with(std::unique_ptr<Mapping> mapping) {
  mapping_ = std::move(mapping);
  epoll_event event{.events = EPOLLIN, .data = {.ptr = &mapping_}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, mapping_->fd(), &event);
}

// MRC-NODE-010: the EVs of this node's profiles that meet what its mapper found broken are denied until it
// has healed; never more than leaves a profile its min_active.
void Daemon::follow_findings() {
  for (auto& [key, device] : devices_) {
    if (!device->own()) continue;
    for (const auto& [id, before] : device->profiles.evs()) {
      const map::Denylist::Change change = mapping_->apply(*device, id);
      if (change.denied + change.allowed == 0) continue;
      device->found_bad[id] = mapping_->denied(*device, id);
      tell_denials(*device, id, before);
      changed(*device, node::ProfileKind::ev, id, static_cast<std::uint32_t>(::getpid()));
      dirty_ = true;
    }
  }
}

}  // namespace mrc::daemon
