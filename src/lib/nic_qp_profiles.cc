// A QP and the profiles that it names: taken on the way to INIT, told of paths that fail, given back at the
// end.
#include <cerrno>

#include "lib/nic_device.h"
#include "lib/nic_qp.h"

namespace mrc::lib {

NicQp::Profiles NicQp::acquire_profiles(const QpAttributes& a) {
  Profiles out;
  node::ProfileStore& store = device_.profiles();
  if (a.ev_profile != 0) {
    auto set = store.acquire_ev(a.ev_profile);
    if (!set) return out.error = set.error().code, out;
    // MRC-PORT-009: SRv6 profiles serve where the ports write outer headers, and are refused elsewhere.
    const bool srv6 = set->format == node::FormatMode::srv6 && !device_.encapsulates();
    if (set->evs.empty() || srv6) return store.release_ev(a.ev_profile), out.error = EINVAL, out;
    out.evs = std::move(*set);
  }
  if (a.cc_profile != 0) {
    auto profile = store.acquire_cc(a.cc_profile);
    if (!profile) return out.error = profile.error().code, out;
    out.cc = *profile;
  }
  return out;
}

/// Also what a failed acquire_profiles got: release_profiles gives it back.
void NicQp::adopt_profiles(const QpAttributes& a, Profiles profiles) {
  release_profiles();
  evs_ = std::move(profiles.evs);
  if (evs_) reported_bad_.assign(evs_->evs.size(), false);
  holds_cc_ = profiles.cc.has_value();
  if (holds_cc_) device_.remember_cc(a.cc_profile, *profiles.cc);
  attributes_.ev_profile = a.ev_profile;
  attributes_.cc_profile = a.cc_profile;
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
