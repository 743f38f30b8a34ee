// mrc_ctl.h: device, ports, versions.
#include <cerrno>

#include "engine/congestion_profile.h"
#include "lib/api_objects.h"
#include "lib/ctl_values.h"
#include "lib/privilege.h"

using namespace mrc::lib;

namespace {

const char* algorithms[] = {mrc::engine::kNsccName, mrc::engine::kConstantName, nullptr};

int fill(Device& device, mrc_ctl_device_attr& attr) {
  const auto free_evs = device.profiles().ask_free_evs();
  if (!free_evs) return free_evs.error().code;
  const auto& limits = device.profiles().limits();
  attr = {};
  attr.mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1;
  attr.ev.ev_max_fmt_profiles = limits.formats;
  attr.ev.ev_max_profiles = limits.ev_profiles;
  attr.ev.ev_max_count = limits.evs;
  attr.ev.ev_free_count = *free_evs;
  attr.ev.ev_max_count_profile = limits.evs_per_profile;
  attr.ev.ev_count_align = limits.ev_count_align;
  attr.ev.ev_max_width = 8 * mrc::node::kEvBytes;
  attr.ev.ev_fmt_mode_mask = limits.format_modes;
  attr.ev.ev_mode_mask = MRC_CTL_EV_MODE_AUTO | MRC_CTL_EV_MODE_EXP | MRC_CTL_EV_MODE_GEN;
  attr.ev.ev_op_max_entries = limits.op_entries;
  attr.cc.cc_max_profiles = limits.cc_profiles;
  attr.cc.algorithms = algorithms;
  attr.phy_port_mask = mrc::PortMask::first(static_cast<int>(device.config().ports.size())).bits();
  attr.opt_attr =
      MRC_CTL_OPT_CAP_EV_EVENT | MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT | MRC_CTL_OPT_CAP_EP_OP_EV_PROBE;
  return 0;
}

bool has_port(const mrc_context& context, std::uint8_t port) {
  return port >= 1 && port <= context.device->config().ports.size();
}

}  // namespace

extern "C" {

int mrc_ctl_query_device_ex(ibv_context* context, mrc_context* mcontext, mrc_ctl_device_attr* attr,
                            int* supported) {
  if ((context == nullptr && mcontext == nullptr) || attr == nullptr || supported == nullptr)
    return fail(EINVAL);
  SoftContext* soft = soft_context(context);
  *supported = mcontext != nullptr || soft != nullptr ? 1 : 0;
  if (*supported == 0) {
    *attr = {};
    return 0;
  }
  const int error = fill(mcontext != nullptr ? *mcontext->device : *soft->device(), *attr);
  return error != 0 ? fail(error) : 0;
}

int mrc_ctl_query_device(ibv_context* context, mrc_ctl_device_attr* attr) {
  int supported = 0;
  if (mrc_ctl_query_device_ex(context, nullptr, attr, &supported) != 0) return -1;
  return supported != 0 ? 0 : fail(EOPNOTSUPP);
}

void mrc_ctl_query_version(uint32_t* current, uint32_t* last_supported, uint32_t* vendor,
                           uint32_t* last_vendor) {
  if (current != nullptr) *current = MRC_CTL_API_CURRENT_VERSION;
  if (last_supported != nullptr) *last_supported = MRC_CTL_API_LAST_SUPPORTED_VERSION;
  if (vendor != nullptr) *vendor = MRC_CTL_VENDOR_API_CURRENT_VERSION;
  if (last_vendor != nullptr) *last_vendor = MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION;
}

int mrc_ctl_query_port(mrc_context* context, uint8_t port, mrc_ctl_port_attr* attr, int mask) {
  if (!may_control()) return fail(EPERM);
  if (context == nullptr || attr == nullptr || !has_port(*context, port)) return fail(EINVAL);
  if ((mask & ~MRC_CTL_PORT_ADMIN_STATE) != 0) return fail(EINVAL);
  const bool enabled = context->device->port_status(mrc::PortId(port)).admin_enabled;
  if (mask != 0) attr->port_admin_state = enabled ? MRC_CTL_PORT_ADMIN_ENABLED : MRC_CTL_PORT_ADMIN_DISABLED;
  return 0;
}

int mrc_ctl_modify_port(mrc_context* context, uint8_t port, mrc_ctl_port_attr* attr, int mask) {
  if (!may_control()) return fail(EPERM);
  if (context == nullptr || attr == nullptr || !has_port(*context, port)) return fail(EINVAL);
  if (mask != MRC_CTL_PORT_ADMIN_STATE) return fail(EINVAL);
  const auto state = attr->port_admin_state;
  if (state != MRC_CTL_PORT_ADMIN_DISABLED && state != MRC_CTL_PORT_ADMIN_ENABLED) return fail(EINVAL);
  const int error = context->device->set_port_admin(mrc::PortId(port), state == MRC_CTL_PORT_ADMIN_ENABLED);
  return error != 0 ? fail(error) : 0;
}

}  // extern "C"
