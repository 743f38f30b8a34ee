#include "lib/connect_party.h"

#include <cerrno>
#include <cstring>

#include "lib/api_objects.h"
#include "lib/progress.h"
#include "lib/qp_shell.h"
#include "lib/soft_context.h"
#include "node/facts.h"

namespace mrc::lib::connect {
namespace {

Status step(const char* what, int error, const std::string& why = {}) {
  if (error == 0) return Done{};
  return Error{error, std::string("a queue pair can't go to ") + what + ": " + std::strerror(error) + why};
}

/// The only wishes that nothing but the device itself can refuse.
std::string about_profiles(const openmrc_params& p) {
  if (p.ev_profile_id == 0 && p.cc_profile_id == 0) return {};
  return " (ev_profile_id " + std::to_string(p.ev_profile_id) + ", cc_profile_id " +
         std::to_string(p.cc_profile_id) +
         " of this side: are they ONLINE, on the device with these ports? `mrc ctl profiles` lists them; "
         "SRv6 formats need MRC_PORT=packet or xdp)";
}
std::string about_class(const openmrc_params& p) {
  if (p.traffic_class == 0) return {};
  return " (traffic_class " + std::to_string(p.traffic_class) +
         " of this side: is it a class of trimmed packets? see MRC_DSCP)";
}

}  // namespace

ibv_qp_state state_of(mrc_qp* qp) {
  ibv_qp_attr attr{};
  return mrc_query_qp(qp, &attr, IBV_QP_STATE, nullptr, 0, nullptr) == 0 ? attr.qp_state : IBV_QPS_ERR;
}

Status to_init(mrc_qp* qp, const openmrc_params& p) {
  ibv_qp_attr v{};
  v.qp_state = IBV_QPS_INIT;
  v.port_num = p.port_num;
  v.qp_access_flags = static_cast<unsigned>(p.access);
  mrc_qp_attr m{};
  m.profile.ev_profile_id = p.ev_profile_id;
  m.profile.cc_profile_id = p.cc_profile_id;
  const int mask =
      (p.ev_profile_id != 0 ? MRC_QP_EV_PROFILE_ID : 0) | (p.cc_profile_id != 0 ? MRC_QP_CC_PROFILE_ID : 0);
  return step(
      "INIT",
      mrc_modify_qp(qp, &v, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, &m, mask),
      about_profiles(p));
}

Status to_rtr(mrc_qp* qp, const Party& party, const Agreement& agreed, const Gid& peer, const QpName& name) {
  ibv_qp_attr v{};
  v.qp_state = IBV_QPS_RTR;
  v.path_mtu = static_cast<ibv_mtu>(agreed.mtu);
  v.dest_qp_num = name.qpn;
  v.rq_psn = name.psn;
  v.ah_attr.is_global = 1;
  v.ah_attr.port_num = party.params.port_num;
  v.ah_attr.sl = party.params.service_level;
  v.ah_attr.grh.sgid_index = party.params.gid_index;
  v.ah_attr.grh.hop_limit = 64;
  v.ah_attr.grh.traffic_class = party.params.traffic_class;
  std::memcpy(v.ah_attr.grh.dgid.raw, peer.data(), peer.size());
  mrc_qp_attr m{};
  m.mpr.mpr_dest = party.params.mpr_dest;
  m.wimm.max_wimm_dest = party.params.max_wimm_dest;
  m.cap = (agreed.peer_trim_nack ? 0u : unsigned{MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED}) |
          (agreed.peer_service_time ? 0u : unsigned{MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED}) |
          (agreed.dynamic_mpr ? unsigned{MRC_QP_CAP_DYNAMIC_MPR} : 0u);
  return step(
      "RTR",
      mrc_modify_qp(qp, &v, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN, &m,
                    MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM_DEST | MRC_QP_CAP),
      about_class(party.params));
}

Status to_rts(mrc_qp* qp, const Party& party, const Agreement& agreed, std::uint32_t psn) {
  ibv_qp_attr v{};
  v.qp_state = IBV_QPS_RTS;
  v.sq_psn = psn;
  mrc_qp_attr m{};
  m.mpr.mpr = agreed.mpr;
  m.wimm.max_wimm = agreed.max_wimm;
  m.timeout = party.params.timeout;
  m.retry.linear_cnt = party.params.linear_retries;
  m.retry.exp_cnt = party.params.exp_retries;
  return step("RTS", mrc_modify_qp(qp, &v, IBV_QP_STATE | IBV_QP_SQ_PSN, &m,
                                   MRC_QP_MPR | MRC_QP_MAX_WIMM | MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT));
}

Result<Party> make_party(ibv_context* context, mrc_qp** qps, int count, const openmrc_params* params) {
  if (context == nullptr || qps == nullptr || count < 1 || count > OPENMRC_MAX_QPS) {
    return Error{EINVAL, "a device and 1 to " + std::to_string(OPENMRC_MAX_QPS) + " queue pairs are needed"};
  }
  Party party{context, std::span(qps, static_cast<std::size_t>(count)), {}, {}};
  openmrc_default_params(&party.params);
  if (params != nullptr) party.params = *params;
  mrc_device_attr attr{};
  int supported = 0;
  if (soft_context(context) == nullptr) return Error{ENODEV, "that is no device of this library"};
  if (mrc_query_device(context, &attr, &supported) != 0 || supported == 0) {
    return Error{ENODEV, "that device does not speak MRC"};
  }
  party.limits.max_mpr = attr.mpr_attr.max_mpr;
  party.limits.max_wimm = attr.wimm_attr.max_wimm;
  party.limits.trim_nack = (attr.cap & MRC_DEVICE_CAP_TRIM_NACK) != 0;
  party.limits.service_time = (attr.cap & MRC_DEVICE_CAP_SVC_TIME) != 0;
  party.limits.dynamic_mpr = (attr.cap & MRC_DEVICE_CAP_DYNAMIC_MPR) != 0;
  if (auto fine = check_params(party.params, attr); !fine) return fine.error();
  if (auto fine = check_states(party.qps); !fine) return fine.error();
  return party;
}

Result<Hello> make_hello(const Party& party, const void* data, std::size_t size) {
  Hello hello;
  const Device& device = *soft_context(party.context)->device();
  const PortId port(party.params.port_num);
  const auto gids = device.gids(port);
  if (party.params.gid_index >= gids.size()) {
    return Error{EINVAL, "port " + std::to_string(party.params.port_num) + " has no GID at index " +
                             std::to_string(party.params.gid_index)};
  }
  hello.gid = gids[party.params.gid_index].gid;
  const Gid& address = device.config().ports[port.value - 1u].address;
  if (hello.gid != address) {
    return Error{EINVAL, "gid_index " + std::to_string(party.params.gid_index) + " is not " +
                             node::address_text(address) +
                             ", where the device is: choose that one, or name " +
                             node::address_text(hello.gid) + " in MRC_DEVICES"};
  }
  hello.mtu = static_cast<std::uint8_t>(std::min(party.params.path_mtu, active_mtu(device)));
  hello.mpr_dest = party.params.mpr_dest;
  hello.max_wimm_dest = party.params.max_wimm_dest;
  hello.dynamic_mpr = party.params.dynamic_mpr != 0 && party.limits.dynamic_mpr;
  hello.trim_nack = party.limits.trim_nack;
  hello.service_time = party.limits.service_time;
  std::uint32_t psn = static_cast<std::uint32_t>(steady_now().time_since_epoch().count());
  for (mrc_qp* qp : party.qps) {
    std::uint32_t qpn = 0;
    if (mrc_get_qpn(qp, &qpn) != 0) return Error{EINVAL, "one of the queue pairs is none"};
    psn = psn * 1664525 + 1013904223;  // different for each, so that nothing relies on zero
    hello.qps.push_back({qpn, psn >> 8});
  }
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  if (size > 0) hello.data.assign(bytes, bytes + size);
  return hello;
}

}  // namespace mrc::lib::connect
