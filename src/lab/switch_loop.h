// The loop that drives a switch on real interfaces: turns while there is work, sleeps when there is none.
#pragma once

#include <optional>

#include "base/time.h"
#include "lab/soft_switch.h"
#include "lab/switch_control.h"

namespace mrc::lab {

struct LoopSettings {
  /// Goes on looking for this long before it sleeps: a wake-up costs some 25 us, and a spinning switch a
  /// core.
  Duration spin{20'000};
  Duration service_period{1'000'000};
  std::optional<Duration> run_for;  // unset: until stop_fd
};

/// Until `stop_fd` becomes readable (-1: never) or the time is over. `control` may be null.
void run_switch(SoftSwitch& sw, SwitchControl* control, int stop_fd, const LoopSettings& settings);

/// An interface taken over from the kernel's IPv6, which would otherwise forward the same frames once more.
struct Neighbour {
  wire::MacAddress mac;  // as far as one knows
  Ipv6 link_local;
};
Result<SoftPort> open_soft_port(const std::string& interface, const fabric::LinkSettings& link,
                                const Neighbour& peer);

}  // namespace mrc::lab
