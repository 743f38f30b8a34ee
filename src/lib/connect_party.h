// One side of openmrc/connect.h: its queue pairs, what its device can, and the steps of its queue pairs to
// RTS.
#pragma once

#include <openmrc/connect.h>

#include <span>

#include "lib/connect_message.h"

namespace mrc::lib::connect {

/// What one side brings.
struct Party {
  ibv_context* context;
  std::span<mrc_qp*> qps;
  openmrc_params params;
  Limits limits;
};

/// Is each wish one that this device can keep?
Status check_params(const openmrc_params& params, const mrc_device_attr& device);
/// Are all queue pairs where connecting begins?
Status check_states(std::span<mrc_qp* const> qps);

Result<Party> make_party(ibv_context* context, mrc_qp** qps, int count, const openmrc_params* params);
/// What it says about itself, with the application's own data.
Result<Hello> make_hello(const Party& party, const void* data, std::size_t size);

ibv_qp_state state_of(mrc_qp* qp);
Status to_init(mrc_qp* qp, const openmrc_params& p);
Status to_rtr(mrc_qp* qp, const Party& party, const Agreement& agreed, const Gid& peer, const QpName& name);
Status to_rts(mrc_qp* qp, const Party& party, const Agreement& agreed, std::uint32_t psn);

}  // namespace mrc::lib::connect
