// mrc_ctl.h: congestion control profiles.
#include <cerrno>
#include <cstring>

#include "lib/api_objects.h"
#include "lib/ctl_values.h"
#include "lib/privilege.h"

using namespace mrc::lib;
using namespace mrc;

namespace {

constexpr int kKnown = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CUR_STATE |
                       MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG |
                       MRC_CTL_CC_PROFILE_VENDOR_CFG;

int check_call(const mrc_context* context, const mrc_ctl_cc_profile_attr* attr, int mask) {
  if (!may_control()) return EPERM;
  return context != nullptr && attr != nullptr && (mask & ~kKnown) == 0 ? 0 : EINVAL;
}

int to_change(const mrc_ctl_cc_profile_attr& attr, int mask, node::CcChange& out) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(MRC_CTL_CC_PROFILE_STATE) && !(out.state = to_state(attr.profile_state))) return EINVAL;
  if (has(MRC_CTL_CC_PROFILE_CUR_STATE) && !(out.expected = to_state(attr.cur_profile_state))) return EINVAL;
  if (has(MRC_CTL_CC_PROFILE_ALGORITHM) && !(out.algorithm = engine::cc_algorithm(attr.algorithm)))
    return EINVAL;
  if (has(MRC_CTL_CC_PROFILE_VENDOR_CFG)) out.vendor = to_vendor(attr.vendor_cfg);
  if (!has(MRC_CTL_CC_PROFILE_CONFIG)) return 0;
  if (attr.cc_config == nullptr) return out.algorithm == engine::CcAlgorithm::off ? 0 : EINVAL;
  out.config = to_nscc(*static_cast<const mrc_ctl_cc_nscc_cfg*>(attr.cc_config));
  return 0;
}

void write(const node::CcProfile& profile, int mask, mrc_ctl_cc_profile_attr& attr) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(MRC_CTL_CC_PROFILE_STATE)) attr.profile_state = from_state(profile.state);
  if (has(MRC_CTL_CC_PROFILE_CUR_STATE)) attr.cur_profile_state = from_state(profile.state);
  if (has(MRC_CTL_CC_PROFILE_ALGORITHM)) {
    attr.algorithm = profile.algorithm ? engine::cc_name(*profile.algorithm) : nullptr;
  }
  if (has(MRC_CTL_CC_PROFILE_CONFIG)) {
    static thread_local mrc_ctl_cc_nscc_cfg copy;  // the structure has no room for one, only for a pointer
    if (profile.config) copy = from_nscc(*profile.config);
    attr.cc_config = profile.config ? &copy : nullptr;
  }
  if (has(MRC_CTL_CC_PROFILE_VENDOR_CFG))
    std::memcpy(attr.vendor_cfg, profile.vendor.data(), profile.vendor.size());
}

}  // namespace

extern "C" {

int mrc_ctl_modify_cc_profile(mrc_context* context, uint64_t id, mrc_ctl_cc_profile_attr* attr, int mask) {
  if (const int error = check_call(context, attr, mask); error != 0) return fail(error);
  node::CcChange change;
  if (const int error = to_change(*attr, mask, change); error != 0) return fail(error);
  const int error = context->device->profiles().modify_cc(id, change);
  return error != 0 ? fail(error) : 0;
}

int mrc_ctl_query_cc_profile(mrc_context* context, uint64_t id, mrc_ctl_cc_profile_attr* attr, int mask) {
  if (const int error = check_call(context, attr, mask); error != 0) return fail(error);
  if (id == 0) return fail(EINVAL);
  const auto profile = context->device->profiles().ask_cc(id);
  if (!profile) return fail(profile.error().code);
  write(*profile, mask, *attr);
  return 0;
}

}  // extern "C"
