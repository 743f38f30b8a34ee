// A QP's attributes as the program set them: keeping them, and handing them to the device.
#include <algorithm>
#include <cstring>

#include "lib/qp_values.h"

namespace mrc::lib {
namespace {

void store_verbs(const ibv_qp_attr& from, int mask, ibv_qp_attr& to) {
  const auto set = [mask](int bit, auto& field, const auto& value) {
    if ((mask & bit) != 0) field = value;
  };
  set(IBV_QP_PKEY_INDEX, to.pkey_index, from.pkey_index);
  set(IBV_QP_PORT, to.port_num, from.port_num);
  set(IBV_QP_ACCESS_FLAGS, to.qp_access_flags, from.qp_access_flags);
  set(IBV_QP_AV, to.ah_attr, from.ah_attr);
  set(IBV_QP_PATH_MTU, to.path_mtu, from.path_mtu);
  set(IBV_QP_DEST_QPN, to.dest_qp_num, from.dest_qp_num);
  set(IBV_QP_RQ_PSN, to.rq_psn, from.rq_psn);
  set(IBV_QP_SQ_PSN, to.sq_psn, from.sq_psn);
  set(IBV_QP_MAX_DEST_RD_ATOMIC, to.max_dest_rd_atomic, from.max_dest_rd_atomic);
  set(IBV_QP_MAX_QP_RD_ATOMIC, to.max_rd_atomic, from.max_rd_atomic);
  set(IBV_QP_MIN_RNR_TIMER, to.min_rnr_timer, from.min_rnr_timer);
  set(IBV_QP_TIMEOUT, to.timeout, from.timeout);
  set(IBV_QP_RETRY_CNT, to.retry_cnt, from.retry_cnt);
  set(IBV_QP_RNR_RETRY, to.rnr_retry, from.rnr_retry);
}

void store_mrc(const mrc_qp_attr& from, int mask, QpRecord& record) {
  mrc_qp_attr& to = record.mrc;
  const auto set = [mask](int bit, auto& field, const auto& value) {
    if ((mask & bit) != 0) field = value;
  };
  set(MRC_QP_MPR, to.mpr.mpr, from.mpr.mpr);
  set(MRC_QP_MPR_DEST, to.mpr.mpr_dest, from.mpr.mpr_dest);
  set(MRC_QP_MAX_WIMM, to.wimm.max_wimm, from.wimm.max_wimm);
  set(MRC_QP_MAX_WIMM_DEST, to.wimm.max_wimm_dest, from.wimm.max_wimm_dest);
  set(MRC_QP_TIMEOUT, to.timeout, from.timeout);
  set(MRC_QP_EV_PROFILE_ID, to.profile.ev_profile_id, from.profile.ev_profile_id);
  set(MRC_QP_CC_PROFILE_ID, to.profile.cc_profile_id, from.profile.cc_profile_id);
  set(MRC_QP_RETRY_CNT, to.retry, from.retry);
  set(MRC_QP_HINT, to.qp_hint, from.qp_hint);
  set(MRC_QP_CAP, to.cap, from.cap);
  if ((mask & MRC_QP_VENDOR_CFG) != 0) std::memcpy(to.vendor_cfg, from.vendor_cfg, sizeof to.vendor_cfg);
  record.mrc_timeout |= (mask & MRC_QP_TIMEOUT) != 0;
  record.mrc_retry |= (mask & MRC_QP_RETRY_CNT) != 0;
}

/// MRC-API-021: timeout and retry count of verbs count where no MRC attribute overrides them.
void derive_timers(const QpChange& change, QpRecord& record) {
  if ((change.verbs_mask & IBV_QP_TIMEOUT) != 0 && !record.mrc_timeout) {
    const std::uint8_t asked = change.verbs->timeout;
    record.mrc.timeout =
        asked == 0 ? std::uint8_t{0} : std::clamp<std::uint8_t>(asked, kLeastVerbsTimeout, kMaxTimeout);
  }
  if ((change.verbs_mask & IBV_QP_RETRY_CNT) != 0 && !record.mrc_retry) {
    record.mrc.retry.linear_cnt = change.verbs->retry_cnt;
  }
}

}  // namespace

QpRecord make_record(QpKind kind) {
  const QpAttributes defaults;
  QpRecord record;
  record.verbs.port_num = 1;
  record.verbs.path_mtu = IBV_MTU_1024;
  record.verbs.path_mig_state = IBV_MIG_MIGRATED;
  // An MRC program that says nothing about access means what MRC is for.
  if (kind == QpKind::mrc) record.verbs.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  record.mrc.mpr = {defaults.mpr, defaults.mpr_dest};
  record.mrc.wimm = {defaults.max_wimm, defaults.max_wimm_dest};
  record.mrc.timeout = defaults.timeout;
  record.mrc.retry = {defaults.linear_retries, defaults.exponential_retries};
  if (kind == QpKind::rc) record.mrc.retry.exp_cnt = 0;  // verbs know one interval
  return record;
}

void store(const QpChange& change, QpRecord& record) {
  if (change.verbs != nullptr) store_verbs(*change.verbs, change.verbs_mask, record.verbs);
  if (change.mrc != nullptr) store_mrc(*change.mrc, change.mrc_mask, record);
  if ((change.mrc_mask & MRC_QP_HINT) != 0) record.hints = change.hints;
  derive_timers(change, record);
}

QpAttributes to_attributes(const QpRecord& record) {
  const auto& v = record.verbs;
  const auto& m = record.mrc;
  QpAttributes out;
  out.port = PortId(v.ah_attr.is_global != 0 ? v.ah_attr.port_num : v.port_num);
  out.remote_write = (v.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0;
  out.remote_read = (v.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0;
  out.ev_profile = m.profile.ev_profile_id;
  out.cc_profile = m.profile.cc_profile_id;
  out.hints = record.hints;
  std::memcpy(out.remote_gid.data(), v.ah_attr.grh.dgid.raw, out.remote_gid.size());
  out.sgid_index = v.ah_attr.grh.sgid_index;
  out.traffic_class = v.ah_attr.grh.traffic_class;
  out.service_level = v.ah_attr.sl;
  out.remote_qpn = Qpn(v.dest_qp_num);
  out.receive_psn = Psn(v.rq_psn);
  out.send_psn = Psn(v.sq_psn);
  out.path_mtu = static_cast<std::uint16_t>(128u << v.path_mtu);
  out.mpr_dest = m.mpr.mpr_dest;
  out.mpr = m.mpr.mpr;
  out.max_wimm_dest = m.wimm.max_wimm_dest;
  out.max_wimm = m.wimm.max_wimm;
  out.dynamic_mpr = (m.cap & MRC_QP_CAP_DYNAMIC_MPR) != 0;
  out.peer_trim_nack = (m.cap & MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED) == 0;
  out.peer_service_time = (m.cap & MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED) == 0;
  out.timeout = m.timeout;
  out.linear_retries = m.retry.linear_cnt;
  out.exponential_retries = m.retry.exp_cnt;
  return out;
}

}  // namespace mrc::lib
