#include "lib/ctl_values.h"

#include <algorithm>
#include <cstring>

namespace mrc::lib {

std::optional<node::ProfileState> to_state(mrc_ctl_profile_state state) {
  switch (state) {
    case MRC_CTL_PROFILE_INIT: return node::ProfileState::init;
    case MRC_CTL_PROFILE_OFFLINE: return node::ProfileState::offline;
    case MRC_CTL_PROFILE_ONLINE: return node::ProfileState::online;
  }
  return std::nullopt;
}

mrc_ctl_profile_state from_state(node::ProfileState state) {
  return static_cast<mrc_ctl_profile_state>(state);
}

std::optional<node::FormatMode> to_format_mode(mrc_ctl_ev_fmt_mode mode) {
  switch (mode) {
    case MRC_CTL_EV_FMT_MODE_STEV: return node::FormatMode::stev;
    case MRC_CTL_EV_FMT_MODE_SRV6: return node::FormatMode::srv6;
    case MRC_CTL_EV_FMT_MODE_UDP: return node::FormatMode::udp;
  }
  return std::nullopt;
}

std::optional<node::EvMode> to_ev_mode(mrc_ctl_ev_mode mode) {
  switch (mode) {
    case MRC_CTL_EV_MODE_AUTO: return node::EvMode::automatic;
    case MRC_CTL_EV_MODE_EXP: return node::EvMode::explicit_;
    case MRC_CTL_EV_MODE_GEN: return node::EvMode::generated;
  }
  return std::nullopt;
}

node::EvValue to_value(const mrc_ctl_ev& ev) {
  node::EvValue value;
  std::copy(std::begin(ev.val), std::end(ev.val), value.bits.begin());
  value.port = ev.port;
  return value;
}

mrc_ctl_ev from_value(const node::EvValue& value) {
  mrc_ctl_ev ev;
  std::copy(value.bits.begin(), value.bits.end(), ev.val);
  ev.port = value.port;
  return ev;
}

std::optional<node::EvState> to_ev_state(mrc_ctl_ev_state state) {
  switch (state) {
    case MRC_CTL_EV_GOOD: return node::EvState::good;
    case MRC_CTL_EV_ASSUMED_BAD: return node::EvState::assumed_bad;
    case MRC_CTL_EV_DENIED: return node::EvState::denied;
    case MRC_CTL_EV_UNKNOWN: return node::EvState::unknown;
  }
  return std::nullopt;
}

mrc_ctl_ev_state from_ev_state(node::EvState state) {
  switch (state) {
    case node::EvState::good: return MRC_CTL_EV_GOOD;
    case node::EvState::assumed_bad: return MRC_CTL_EV_ASSUMED_BAD;
    case node::EvState::denied: return MRC_CTL_EV_DENIED;
    case node::EvState::unknown: break;
  }
  return MRC_CTL_EV_UNKNOWN;
}

node::EvField to_field(const mrc_ctl_ev_field& f) {
  return {f.width, f.init_val, f.min_val, f.max_val, f.mask};
}
mrc_ctl_ev_field from_field(const node::EvField& f) { return {f.width, f.init, f.min, f.max, f.mask}; }

namespace {

/// The fields of the same names. disable_qa is a number in the interface.
void copy_nscc(const auto& from, auto& to) {
  to.qa_gate = from.qa_gate;
  to.adjust_bytes_threshold = from.adjust_bytes_threshold;
  to.adjust_period_threshold = from.adjust_period_threshold;
  to.base_rtt = from.base_rtt;
  to.eta = from.eta;
  to.fi = from.fi;
  to.fi_scale = from.fi_scale;
  to.gamma = from.gamma;
  to.max_md_jump = from.max_md_jump;
  to.max_cwnd = from.max_cwnd;
  to.qa_threshold = from.qa_threshold;
  to.target_delay = from.target_delay;
}

}  // namespace

engine::NsccConfig to_nscc(const mrc_ctl_cc_nscc_cfg& c) {
  engine::NsccConfig out;
  copy_nscc(c, out);
  out.disable_qa = c.disable_qa != 0;
  return out;
}

mrc_ctl_cc_nscc_cfg from_nscc(const engine::NsccConfig& c) {
  mrc_ctl_cc_nscc_cfg out{};
  copy_nscc(c, out);
  out.disable_qa = c.disable_qa ? 1 : 0;
  return out;
}

node::VendorConfig to_vendor(const std::uint8_t (&bytes)[MRC_CTL_MAX_VENDOR_CFG_SIZE]) {
  node::VendorConfig out;
  std::copy(std::begin(bytes), std::end(bytes), out.begin());
  return out;
}

}  // namespace mrc::lib
