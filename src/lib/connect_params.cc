// What a side of openmrc/connect.h may ask for, checked before anybody is met: each wrong wish has a sentence
// that names it, and a peer never reaches RTS against a side that could not.
#include <cerrno>

#include "lib/api_objects.h"
#include "lib/connect_party.h"
#include "lib/qp_values.h"
#include "nic/settings.h"

namespace mrc::lib::connect {
namespace {

struct Bound {
  const char* name;
  int value, least, most;
};

Status within(const Bound& b) {
  if (b.value >= b.least && b.value <= b.most) return Done{};
  return Error{EINVAL, std::string(b.name) + " is " + std::to_string(b.value) + " on this side: it must be " +
                           std::to_string(b.least) + " to " + std::to_string(b.most)};
}

const char* name_of(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RTR: return "RTR";
    case IBV_QPS_RTS: return "RTS";
    default: return "ERR";
  }
}

}  // namespace

Status check_params(const openmrc_params& p, const mrc_device_attr& device) {
  const Bound bounds[] = {
      {"mpr_dest", p.mpr_dest, engine::kMinMpr, device.mpr_attr.max_mpr},
      {"max_wimm_dest", p.max_wimm_dest, 1, device.wimm_attr.max_wimm_dest},
      {"path_mtu", p.path_mtu, IBV_MTU_256, IBV_MTU_4096},
      {"service_level", p.service_level, 0, nic::kServiceLevels - 1},
      {"timeout", p.timeout, 0, kMaxTimeout},
      {"linear_retries", p.linear_retries, 0, kMaxLinear},
      {"exp_retries", p.exp_retries, 0, kMaxExponential},
  };
  for (const Bound& bound : bounds) {
    if (auto fine = within(bound); !fine) return fine;
  }
  return Done{};
}

Status check_states(std::span<mrc_qp* const> qps) {
  for (mrc_qp* qp : qps) {
    if (qp == nullptr) return Error{EINVAL, "one of the queue pairs is none"};
    const ibv_qp_state state = state_of(qp);
    if (state == IBV_QPS_RESET || state == IBV_QPS_INIT) continue;
    return Error{EINVAL, std::string("a queue pair of this side is in ") + name_of(state) +
                             ": connecting begins in RESET or INIT, so move it to RESET first"};
  }
  return Done{};
}

}  // namespace mrc::lib::connect
