#include "lib/qp_values.h"

#include <algorithm>
#include <cerrno>

#include "nic/settings.h"

namespace mrc::lib {
namespace {

constexpr int kKnownQpCaps =
    MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED | MRC_QP_CAP_DYNAMIC_MPR | MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED;

int check_address(const ibv_ah_attr& address, const QpSurroundings& around) {
  if (address.is_global == 0) return EINVAL;  // RoCE has no local identifiers
  if (address.port_num < 1 || address.port_num > around.port_count()) return EINVAL;
  if (address.grh.sgid_index >= around.gid_count(PortId(address.port_num))) return EINVAL;
  if (address.sl >= nic::kServiceLevels) return EINVAL;
  const auto* gid = address.grh.dgid.raw;
  const bool unspecified = std::all_of(gid, gid + 16, [](std::uint8_t byte) { return byte == 0; });
  return unspecified || gid[0] == 0xff ? EINVAL : 0;  // nobody, or a multicast group
}

int check_mtu(ibv_mtu mtu, PortId port, const QpSurroundings& around) {
  if (mtu < IBV_MTU_256 || mtu > IBV_MTU_4096) return EINVAL;
  return mtu <= around.active_mtu(port) ? 0 : EINVAL;
}

int check_mpr(int mpr, const Limits& limits) {
  return mpr >= engine::kMinMpr && mpr <= limits.max_mpr && mpr % limits.mpr_resolution == 0 ? 0 : EINVAL;
}

int check_caps(std::uint32_t cap, const Limits& limits) {
  if ((cap & ~static_cast<std::uint32_t>(kKnownQpCaps)) != 0) return EINVAL;
  return (cap & MRC_QP_CAP_DYNAMIC_MPR) != 0 && !limits.dynamic_mpr ? EINVAL : 0;
}

}  // namespace

int check_verbs_values(const ibv_qp_attr& attr, int mask, const QpRecord& record,
                       const QpSurroundings& around) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(IBV_QP_PKEY_INDEX) && attr.pkey_index != 0) return EINVAL;  // one P_Key: 0xFFFF
  if (has(IBV_QP_PORT) && (attr.port_num < 1 || attr.port_num > around.port_count())) return EINVAL;
  if (has(IBV_QP_AV)) {
    if (const int error = check_address(attr.ah_attr, around); error != 0) return error;
  }
  if (has(IBV_QP_PATH_MTU)) {
    const PortId port(has(IBV_QP_AV) ? attr.ah_attr.port_num : record.verbs.port_num);
    if (const int error = check_mtu(attr.path_mtu, port, around); error != 0) return error;
  }
  if (has(IBV_QP_DEST_QPN) && attr.dest_qp_num > 0xFFFFFF) return EINVAL;
  if (has(IBV_QP_RQ_PSN) && attr.rq_psn > Psn::kMask) return EINVAL;
  if (has(IBV_QP_SQ_PSN) && attr.sq_psn > Psn::kMask) return EINVAL;
  if (has(IBV_QP_TIMEOUT) && attr.timeout > kMaxVerbsTimeout) return EINVAL;
  if (has(IBV_QP_RETRY_CNT) && attr.retry_cnt > kMaxVerbsRetry) return EINVAL;
  if (has(IBV_QP_RNR_RETRY) && attr.rnr_retry > kMaxVerbsRetry) return EINVAL;
  return 0;
}

int check_mrc_values(const mrc_qp_attr& attr, int mask, const Limits& limits) {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(MRC_QP_MAX_WIMM) && (attr.wimm.max_wimm < 1 || attr.wimm.max_wimm > limits.max_wimm)) return EINVAL;
  if (has(MRC_QP_MAX_WIMM_DEST) &&
      (attr.wimm.max_wimm_dest < 1 || attr.wimm.max_wimm_dest > limits.max_wimm_dest)) {
    return EINVAL;
  }
  if (has(MRC_QP_MPR) && check_mpr(attr.mpr.mpr, limits) != 0) return EINVAL;
  if (has(MRC_QP_MPR_DEST) && check_mpr(attr.mpr.mpr_dest, limits) != 0) return EINVAL;
  if (has(MRC_QP_TIMEOUT) && attr.timeout > kMaxTimeout) return EINVAL;
  if (has(MRC_QP_RETRY_CNT) && (attr.retry.linear_cnt > kMaxLinear || attr.retry.exp_cnt > kMaxExponential)) {
    return EINVAL;
  }
  return has(MRC_QP_CAP) ? check_caps(attr.cap, limits) : 0;
}

}  // namespace mrc::lib
