// The array operations of an EV profile, between mrc_ctl.h's structures and the node's values.
#pragma once

#include <mrc_ctl.h>

#include "node/profile_types.h"

namespace mrc::lib {

/// Of modify: fills the change; a query operation fills nothing, and is answered after the change. 0 or an
/// errno.
int read_ev_op(const mrc_ctl_ev_profile_attr& attr, const node::ProfileLimits& limits, node::EvChange& out);
int read_fields_op(const mrc_ctl_ev_profile_attr& attr, const node::ProfileLimits& limits,
                   node::EvChange& out);

/// Of query: E2BIG with the needed size where the array is too small; ENOENT with the index of an unknown EV.
int answer_ev_op(const node::EvProfile& profile, const node::ProfileLimits& limits,
                 mrc_ctl_ev_profile_attr& attr);
int answer_fields_op(const node::EvProfile& profile, mrc_ctl_ev_profile_attr& attr);

}  // namespace mrc::lib
