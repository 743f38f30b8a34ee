// mrc_ctl.h: EV profiles.
#include <cerrno>
#include <cstring>

#include "lib/api_objects.h"
#include "lib/ctl_ev_ops.h"
#include "lib/ctl_values.h"
#include "lib/privilege.h"

using namespace mrc::lib;
using namespace mrc;

namespace {

constexpr int kOperations = MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;
constexpr int kKnown = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_CUR_STATE | MRC_CTL_EV_PROFILE_MODE |
                       MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
                       MRC_CTL_EV_PROFILE_EVENT_MASK | kOperations | MRC_CTL_EV_PROFILE_VENDOR_CFG;

int check_call(const mrc_context* context, const mrc_ctl_ev_profile_attr* attr, int mask) {
  if (!may_control()) return EPERM;
  if (context == nullptr || attr == nullptr || (mask & ~kKnown) != 0) return EINVAL;
  return (mask & kOperations) == kOperations ? EINVAL : 0;
}

int to_change(const mrc_ctl_ev_profile_attr& attr, int mask, const node::ProfileLimits& limits,
              node::EvChange& out) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(MRC_CTL_EV_PROFILE_STATE) && !(out.state = to_state(attr.profile_state))) return EINVAL;
  if (has(MRC_CTL_EV_PROFILE_CUR_STATE) && !(out.expected = to_state(attr.cur_profile_state))) return EINVAL;
  if (has(MRC_CTL_EV_PROFILE_MODE) && !(out.mode = to_ev_mode(attr.ev_mode))) return EINVAL;
  if (has(MRC_CTL_EV_PROFILE_FMT_ID)) out.format = attr.ev_fmt_profile_id;
  if (has(MRC_CTL_EV_PROFILE_COUNT)) out.count = attr.ev_count;
  if (has(MRC_CTL_EV_PROFILE_MIN_ACTIVE)) out.min_active = attr.ev_min_active;
  if (has(MRC_CTL_EV_PROFILE_EVENT_MASK)) out.event_mask = static_cast<std::uint32_t>(attr.ev_event_mask);
  if (has(MRC_CTL_EV_PROFILE_VENDOR_CFG)) out.vendor = to_vendor(attr.vendor_cfg);
  if (has(MRC_CTL_EV_PROFILE_EV_OP)) return read_ev_op(attr, limits, out);
  if (has(MRC_CTL_EV_PROFILE_EV_FIELDS_OP)) return read_fields_op(attr, limits, out);
  return 0;
}

void write_attributes(const node::EvProfile& profile, int mask, mrc_ctl_ev_profile_attr& attr) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(MRC_CTL_EV_PROFILE_STATE)) attr.profile_state = from_state(profile.state);
  if (has(MRC_CTL_EV_PROFILE_CUR_STATE)) attr.cur_profile_state = from_state(profile.state);
  if (has(MRC_CTL_EV_PROFILE_MODE)) {
    attr.ev_mode = static_cast<mrc_ctl_ev_mode>(profile.mode ? static_cast<int>(*profile.mode) : 0);
  }
  if (has(MRC_CTL_EV_PROFILE_FMT_ID)) attr.ev_fmt_profile_id = profile.format;
  if (has(MRC_CTL_EV_PROFILE_COUNT)) attr.ev_count = profile.count;
  if (has(MRC_CTL_EV_PROFILE_MIN_ACTIVE)) attr.ev_min_active = profile.min_active.value_or(0);
  if (has(MRC_CTL_EV_PROFILE_EVENT_MASK))
    attr.ev_event_mask = static_cast<int>(profile.event_mask.value_or(0));
  if (has(MRC_CTL_EV_PROFILE_VENDOR_CFG))
    std::memcpy(attr.vendor_cfg, profile.vendor.data(), profile.vendor.size());
}

/// Runs the query operation that the mask names, if it names one.
int answer(const node::EvProfile& profile, const node::ProfileLimits& limits, int mask,
           mrc_ctl_ev_profile_attr& attr) {
  if ((mask & MRC_CTL_EV_PROFILE_EV_OP) != 0) return answer_ev_op(profile, limits, attr);
  if ((mask & MRC_CTL_EV_PROFILE_EV_FIELDS_OP) != 0) return answer_fields_op(profile, attr);
  return 0;
}

}  // namespace

extern "C" {

int mrc_ctl_modify_ev_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_profile_attr* attr, int mask) {
  if (const int error = check_call(context, attr, mask); error != 0) return fail(error);
  auto& profiles = context->device->profiles();
  node::EvChange change;
  if (const int error = to_change(*attr, mask, profiles.limits(), change); error != 0) return fail(error);
  const auto outcome = profiles.modify_ev(id, change);
  if (outcome.error != 0) {
    const bool entries = !change.replaces.empty() || !change.states.empty();
    if (entries && outcome.error != E2BIG) attr->ev_op.entry_count = static_cast<int>(outcome.entry);
    return fail(outcome.error);
  }
  const bool operated = change.fields || !change.replaces.empty() || !change.states.empty();
  if (operated || (mask & kOperations) == 0) return 0;
  const auto profile = profiles.ask_ev(id);
  const int error = profile ? answer(*profile, profiles.limits(), mask, *attr) : profile.error().code;
  return error != 0 ? fail(error) : 0;
}

int mrc_ctl_query_ev_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_profile_attr* attr, int mask) {
  if (const int error = check_call(context, attr, mask); error != 0) return fail(error);
  if (id == 0) return fail(EINVAL);
  auto& profiles = context->device->profiles();
  const auto profile = profiles.ask_ev(id);
  if (!profile) return fail(profile.error().code);
  write_attributes(*profile, mask, *attr);
  const int error = answer(*profile, profiles.limits(), mask, *attr);
  return error != 0 ? fail(error) : 0;
}

}  // extern "C"
