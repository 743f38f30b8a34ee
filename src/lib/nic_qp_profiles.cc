// A QP and the profiles that it names: taken on the way to INIT, told of paths that fail, given back at the
// end.
#include <cerrno>

#include "lib/nic_device.h"
#include "lib/nic_qp.h"

namespace mrc::lib {

int NicQp::acquire_profiles(const QpAttributes& a) {
  if (a.ev_profile != 0) {
    auto set = device_.profiles().acquire_ev(a.ev_profile);
    if (!set) return set.error().code;
    const bool empty = set->evs.empty();
    // MRC-PORT-009: SRv6 profiles serve where the ports write outer headers, and are refused elsewhere.
    const bool srv6 = set->format == node::FormatMode::srv6 && !device_.encapsulates();
    if (!empty && !srv6) evs_ = std::move(*set);
    if (empty || srv6) return device_.profiles().release_ev(a.ev_profile), EINVAL;
    reported_bad_.assign(evs_->evs.size(), false);
  }
  if (a.cc_profile != 0) {
    const auto profile = device_.profiles().acquire_cc(a.cc_profile);
    if (!profile) return release_profiles(), profile.error().code;
    device_.remember_cc(a.cc_profile, *profile);
    holds_cc_ = true;
  }
  attributes_.ev_profile = a.ev_profile;
  attributes_.cc_profile = a.cc_profile;
  return 0;
}

void NicQp::release_profiles() {
  if (evs_) {
    for (std::uint32_t slot = 0; slot < reported_bad_.size(); ++slot) {
      if (reported_bad_[slot]) device_.profiles().report_ev(attributes_.ev_profile, slot, false);
    }
    device_.profiles().release_ev(attributes_.ev_profile);
    evs_.reset();
  }
  if (holds_cc_) device_.profiles().release_cc(attributes_.cc_profile);
  holds_cc_ = false;
}

void NicQp::note_path(const engine::PathChanged& change) {
  if (!evs_ || change.slot.value >= reported_bad_.size()) return;
  const bool bad = change.to == engine::EvState::assumed_bad;
  if (bad == reported_bad_[change.slot.value]) return;
  reported_bad_[change.slot.value] = bad;
  device_.profiles().report_ev(attributes_.ev_profile, change.slot.value, bad);
}

void NicQp::set_denied(Time now, std::uint32_t slot, bool denied) {
  device_.nic().set_ev_state(now, *qp_, EvSlot(static_cast<std::uint16_t>(slot)),
                             denied ? engine::EvState::denied : engine::EvState::good);
}

}  // namespace mrc::lib
