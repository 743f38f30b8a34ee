// mrc_ctl.h: EV format profiles.
#include <cerrno>
#include <cstring>

#include "lib/api_objects.h"
#include "lib/ctl_values.h"
#include "lib/privilege.h"

using namespace mrc::lib;
using namespace mrc;

namespace {

constexpr int kKnown = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_CUR_STATE |
                       MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP | MRC_CTL_EV_FMT_VENDOR_CFG;

int check_call(const mrc_context* context, const mrc_ctl_ev_fmt_profile_attr* attr, int mask) {
  if (!may_control()) return EPERM;
  return context != nullptr && attr != nullptr && (mask & ~kKnown) == 0 ? 0 : EINVAL;
}

int read_fields(const mrc_ctl_ev_fmt_profile_attr& attr, const node::ProfileLimits& limits,
                node::FormatChange& out) {
  const auto& op = attr.ev_fmt_op;
  if (op.fmt_fields == nullptr || op.fmt_field_count < 1) return EINVAL;
  if (static_cast<std::uint32_t>(op.fmt_field_count) > limits.format_fields) return E2BIG;
  out.widths.emplace();
  for (int i = 0; i < op.fmt_field_count; ++i) out.widths->push_back(op.fmt_fields[i].width);
  return 0;
}

int to_change(const mrc_ctl_ev_fmt_profile_attr& attr, int mask, const node::ProfileLimits& limits,
              node::FormatChange& out) {
  if ((mask & MRC_CTL_EV_FMT_PROFILE_STATE) != 0 && !(out.state = to_state(attr.profile_state)))
    return EINVAL;
  if ((mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE) != 0 && !(out.expected = to_state(attr.cur_profile_state))) {
    return EINVAL;
  }
  if ((mask & MRC_CTL_EV_FMT_PROFILE_MODE) != 0 && !(out.mode = to_format_mode(attr.ev_fmt_mode)))
    return EINVAL;
  if ((mask & MRC_CTL_EV_FMT_VENDOR_CFG) != 0) out.vendor = to_vendor(attr.vendor_cfg);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_OP) == 0) return 0;
  if (attr.ev_fmt_op.op == MRC_CTL_EV_FMT_OP_QUERY_FIELDS) return 0;  // answered after the change
  return attr.ev_fmt_op.op == MRC_CTL_EV_FMT_OP_MODIFY_FIELDS ? read_fields(attr, limits, out) : EINVAL;
}

int write_fields(const node::FormatProfile& profile, mrc_ctl_ev_fmt_profile_attr& attr) {
  auto& op = attr.ev_fmt_op;
  const auto count = static_cast<int>(profile.widths.size());
  const bool room = op.fmt_field_count >= count;
  if (room && count > 0 && op.fmt_fields == nullptr) return EINVAL;
  op.fmt_field_count = count;
  if (!room) return E2BIG;
  for (int i = 0; i < count; ++i) op.fmt_fields[i].width = profile.widths[static_cast<std::size_t>(i)];
  return 0;
}

int write(const node::FormatProfile& profile, int mask, mrc_ctl_ev_fmt_profile_attr& attr) {
  if ((mask & MRC_CTL_EV_FMT_PROFILE_STATE) != 0) attr.profile_state = from_state(profile.state);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_CUR_STATE) != 0) attr.cur_profile_state = from_state(profile.state);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_MODE) != 0) {
    attr.ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(profile.mode ? static_cast<int>(*profile.mode) : 0);
  }
  if ((mask & MRC_CTL_EV_FMT_VENDOR_CFG) != 0)
    std::memcpy(attr.vendor_cfg, profile.vendor.data(), profile.vendor.size());
  return (mask & MRC_CTL_EV_FMT_PROFILE_OP) != 0 ? write_fields(profile, attr) : 0;
}

}  // namespace

extern "C" {

int mrc_ctl_modify_ev_fmt_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_fmt_profile_attr* attr,
                                  int mask) {
  if (const int error = check_call(context, attr, mask); error != 0) return fail(error);
  auto& profiles = context->device->profiles();
  node::FormatChange change;
  if (const int error = to_change(*attr, mask, profiles.limits(), change); error != 0) return fail(error);
  if (const int error = profiles.modify_format(id, change); error != 0) return fail(error);
  const bool asks = (mask & MRC_CTL_EV_FMT_PROFILE_OP) != 0 && !change.widths;
  if (!asks) return 0;
  const auto profile = profiles.ask_format(id);
  const int error = profile ? write_fields(*profile, *attr) : profile.error().code;
  return error != 0 ? fail(error) : 0;
}

int mrc_ctl_query_ev_fmt_profile(mrc_context* context, uint64_t id, mrc_ctl_ev_fmt_profile_attr* attr,
                                 int mask) {
  if (const int error = check_call(context, attr, mask); error != 0) return fail(error);
  if (id == 0) return fail(EINVAL);
  if ((mask & MRC_CTL_EV_FMT_PROFILE_OP) != 0 && attr->ev_fmt_op.op != MRC_CTL_EV_FMT_OP_QUERY_FIELDS) {
    return fail(EINVAL);
  }
  const auto profile = context->device->profiles().ask_format(id);
  const int error = profile ? write(*profile, mask, *attr) : profile.error().code;
  return error != 0 ? fail(error) : 0;
}

}  // extern "C"
