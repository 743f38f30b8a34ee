// mrc.h: devices, versions and contexts.
#include <cerrno>

#include "lib/api_objects.h"

using namespace mrc::lib;

mrc_context::mrc_context(std::shared_ptr<Device> over, std::uint32_t version)
    : device(std::move(over)), api_version(version) {
  device->listen(this);
}

mrc_context::~mrc_context() { device->unlisten(this); }

namespace {

void fill(const Limits& limits, mrc_device_attr& attr) {
  attr = {};
  attr.mrc_protocol_version = MRC_PROTOCOL_VERSION_1;
  attr.wimm_attr = {limits.max_wimm, limits.max_wimm_dest};
  attr.mpr_attr = {limits.max_mpr, limits.mpr_resolution};
  attr.qp_attr.max_qp_hint = limits.max_qp_hint;
  const auto bit = [](bool has, mrc_device_cap cap) { return has ? static_cast<std::uint32_t>(cap) : 0u; };
  attr.cap = bit(limits.trim_nack, MRC_DEVICE_CAP_TRIM_NACK) |
             bit(limits.dynamic_mpr, MRC_DEVICE_CAP_DYNAMIC_MPR) |
             bit(limits.service_time, MRC_DEVICE_CAP_SVC_TIME);
}

/// MRC-API-030: programs state their version, 0, 0.0.1, or nothing: the last three mean the current one.
std::uint32_t stated_version(const mrc_context_attr* attr) {
  constexpr std::uint32_t kPlaceholder = MRC_API_VER(0, 0, 1);
  if (attr == nullptr || attr->mrc_api_version_used <= kPlaceholder) return MRC_API_CURRENT_VERSION;
  return attr->mrc_api_version_used == MRC_API_VER_LATEST ? MRC_API_CURRENT_VERSION
                                                          : attr->mrc_api_version_used;
}

}  // namespace

extern "C" {

int mrc_query_device_ex(ibv_context* context, mrc_context* mcontext, mrc_device_attr* attr, int* supported) {
  if ((context == nullptr && mcontext == nullptr) || attr == nullptr || supported == nullptr)
    return fail(EINVAL);
  SoftContext* soft = soft_context(context);
  if (mcontext == nullptr && soft == nullptr) {  // a device of another kind: that is an answer, not an error
    *attr = {};
    *supported = 0;
    return 0;
  }
  fill(mcontext != nullptr ? mcontext->device->limits() : soft->device()->limits(), *attr);
  *supported = 1;
  return 0;
}

int mrc_query_device(ibv_context* context, mrc_device_attr* attr, int* supported) {
  return mrc_query_device_ex(context, nullptr, attr, supported);
}

void mrc_query_version(uint32_t* current, uint32_t* last_supported, uint32_t* vendor, uint32_t* last_vendor) {
  if (current != nullptr) *current = MRC_API_CURRENT_VERSION;
  if (last_supported != nullptr) *last_supported = MRC_API_LAST_SUPPORTED_VERSION;
  if (vendor != nullptr) *vendor = MRC_VENDOR_API_CURRENT_VERSION;
  if (last_vendor != nullptr) *last_vendor = MRC_VENDOR_API_LAST_SUPPORTED_VERSION;
}

mrc_context* mrc_create_context(ibv_context* vcontext, mrc_context_attr* attr) {
  if (vcontext == nullptr) return fail_null<mrc_context>(EINVAL);
  SoftContext* soft = soft_context(vcontext);
  if (soft == nullptr) return fail_null<mrc_context>(EOPNOTSUPP);
  const std::uint32_t version = stated_version(attr);
  if (version > MRC_API_CURRENT_VERSION) return fail_null<mrc_context>(EOPNOTSUPP);
  auto context = std::make_unique<mrc_context>(soft->device(), version);
  if (context->async.open_error() != 0) return fail_null<mrc_context>(context->async.open_error());
  return context.release();
}

int mrc_destroy_context(mrc_context* context) {
  if (context == nullptr) return fail(EINVAL);
  if (context->objects > 0) return fail(EBUSY);
  delete context;
  return 0;
}

}  // extern "C"
