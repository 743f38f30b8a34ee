#include "fabric/link.h"

namespace mrc::fabric {

// MRC-FAB-013: a trimmed frame keeps its headers, changes its class, and overtakes data from here on.
Fate Link::trim(Frame& f) {
  const bool last = settings_->toward_host;
  const wire::TrafficClass was = f.traffic_class;
  const std::uint32_t had = f.bytes;
  f.bytes = std::min(f.bytes, settings_->trim_bytes);
  f.traffic_class = last ? wire::TrafficClass::trimmed_lasthop : wire::TrafficClass::trimmed;
  const Fate fate = offer_control(f, last ? Fate::trimmed_lasthop : Fate::trimmed);
  if (is_gone(fate)) {
    f.bytes = had;
    f.traffic_class = was;
  } else {
    ++counters_.trims;
  }
  return fate;
}

void Link::set_loss(double probability) {
  const double scaled = std::clamp(probability, 0.0, 1.0) * 0x1p32;
  loss_ = scaled >= 0x1p32 ? UINT32_MAX : static_cast<std::uint32_t>(scaled);
}

}  // namespace mrc::fabric
