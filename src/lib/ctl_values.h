// Values of mrc_ctl.h and values of the node, each way.
#pragma once

#include <mrc_ctl.h>

#include <optional>

#include "node/profile_types.h"

namespace mrc::lib {

std::optional<node::ProfileState> to_state(mrc_ctl_profile_state state);
mrc_ctl_profile_state from_state(node::ProfileState state);
std::optional<node::FormatMode> to_format_mode(mrc_ctl_ev_fmt_mode mode);
std::optional<node::EvMode> to_ev_mode(mrc_ctl_ev_mode mode);
node::EvValue to_value(const mrc_ctl_ev& ev);
mrc_ctl_ev from_value(const node::EvValue& value);
std::optional<node::EvState> to_ev_state(mrc_ctl_ev_state state);
mrc_ctl_ev_state from_ev_state(node::EvState state);
node::EvField to_field(const mrc_ctl_ev_field& field);
mrc_ctl_ev_field from_field(const node::EvField& field);
engine::NsccConfig to_nscc(const mrc_ctl_cc_nscc_cfg& config);
mrc_ctl_cc_nscc_cfg from_nscc(const engine::NsccConfig& config);
node::VendorConfig to_vendor(const std::uint8_t (&bytes)[MRC_CTL_MAX_VENDOR_CFG_SIZE]);

}  // namespace mrc::lib
