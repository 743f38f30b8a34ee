#include "lib/qp_transition.h"

#include <algorithm>
#include <array>
#include <optional>

#include "lib/qp_values.h"

namespace mrc::lib {
namespace {

using engine::QpState;

/// What each transition of an RC QP needs and allows, besides IBV_QP_STATE.
struct Rule {
  QpState from, to;
  int rc_needs, rc_allows;
  int mrc_needs;
};
constexpr int kInitNeeds = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kRtrMrcNeeds = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int kRtrNeeds = kRtrMrcNeeds | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRtsNeeds =
    IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr int kRtsAllows = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER;
constexpr std::array kRules{
    Rule{QpState::reset, QpState::init, kInitNeeds, 0, 0},
    Rule{QpState::init, QpState::init, 0, kInitNeeds, 0},
    Rule{QpState::init, QpState::rtr, kRtrNeeds, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX, kRtrMrcNeeds},
    Rule{QpState::rtr, QpState::rts, kRtsNeeds, kRtsAllows, IBV_QP_SQ_PSN},
    Rule{QpState::rts, QpState::rts, 0, kRtsAllows, 0},
};

// MRC-API-020: programs pass attributes that MRC has no use for; only these are refused.
constexpr int kNeverMrc = IBV_QP_QKEY | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | IBV_QP_CAP |
                          IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_RATE_LIMIT;
constexpr int kAllVerbs = (1 << 26) - 1;

// Until when an MRC attribute may be set: profiles pick the paths before a peer is known; windows are
// promised to it.
constexpr int kUntilInit = MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID | MRC_QP_HINT;
constexpr int kUntilRtr = MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP;
constexpr int kUntilRts = MRC_QP_MAX_WIMM | MRC_QP_MPR;
constexpr int kAnyTime = MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT | MRC_QP_VENDOR_CFG;
std::optional<QpState> from_verbs(ibv_qp_state state) {
  switch (state) {
    case IBV_QPS_RESET: return QpState::reset;
    case IBV_QPS_INIT: return QpState::init;
    case IBV_QPS_RTR: return QpState::rtr;
    case IBV_QPS_RTS: return QpState::rts;
    case IBV_QPS_ERR: return QpState::error;
    default:
      return std::nullopt;  // SQD and SQE: the send queue of an MRC QP does not drain apart from the QP
  }
}

Error invalid(std::string what) { return Error{EINVAL, std::move(what)}; }

const Rule* find_rule(QpState from, QpState to) {
  const auto found = std::find_if(kRules.begin(), kRules.end(),
                                  [=](const Rule& rule) { return rule.from == from && rule.to == to; });
  return found != kRules.end() ? &*found : nullptr;
}

int mrc_mask_for(QpState to) {
  switch (to) {
    case QpState::init: return kUntilInit | kUntilRtr | kUntilRts | kAnyTime;
    case QpState::rtr: return kUntilRtr | kUntilRts | kAnyTime;
    case QpState::rts: return kUntilRts | kAnyTime;
    default: return 0;
  }
}

/// Are these attributes the ones of this transition? 0 or EINVAL.
int check_masks(QpKind kind, QpState from, QpState to, const QpChange& change) {
  const int given = change.verbs_mask & ~IBV_QP_STATE;
  if (to == QpState::reset || to == QpState::error) {
    return (given & ~IBV_QP_CUR_STATE) == 0 && change.mrc_mask == 0 ? 0 : EINVAL;
  }
  const Rule* rule = find_rule(from, to);
  if (rule == nullptr) return EINVAL;
  const int needs = kind == QpKind::rc ? rule->rc_needs : rule->mrc_needs;
  const int allows = kind == QpKind::rc ? rule->rc_allows | IBV_QP_CUR_STATE : kAllVerbs & ~kNeverMrc;
  if ((given & needs) != needs || (given & ~(needs | allows)) != 0) return EINVAL;
  const int mrc_allows = from == QpState::rts ? kAnyTime : mrc_mask_for(to);
  return (change.mrc_mask & ~mrc_allows) == 0 ? 0 : EINVAL;
}

}  // namespace

Result<QpState> apply(QpKind kind, QpState current, const QpChange& asked, const QpSurroundings& around,
                      QpRecord& record) {
  QpChange change = asked;
  ibv_qp_attr filled;
  if (kind == QpKind::mrc && change.verbs != nullptr) {
    // An MRC QP is on all ports at once, so programs leave the address's port 0; and programs exist that pass
    // retry counts and timeouts of the verbs kind beyond what verbs have.
    filled = *change.verbs;
    if (filled.ah_attr.port_num == 0) filled.ah_attr.port_num = record.verbs.port_num;
    filled.retry_cnt = std::min<std::uint8_t>(filled.retry_cnt, kMaxVerbsRetry);
    filled.rnr_retry = std::min<std::uint8_t>(filled.rnr_retry, kMaxVerbsRetry);
    filled.timeout = std::min<std::uint8_t>(filled.timeout, kMaxVerbsTimeout);
    change.verbs = &filled;
  }
  if (change.verbs_mask != 0 && change.verbs == nullptr) return invalid("attributes are NULL");
  if (change.mrc_mask != 0 && change.mrc == nullptr) return invalid("MRC attributes are NULL");
  if ((change.verbs_mask & IBV_QP_CUR_STATE) != 0 && from_verbs(change.verbs->cur_qp_state) != current) {
    return invalid("the QP is not in cur_qp_state");
  }
  const auto next = (change.verbs_mask & IBV_QP_STATE) != 0 ? from_verbs(change.verbs->qp_state) : current;
  if (!next) return invalid("no such QP state over MRC");
  if (check_masks(kind, current, *next, change) != 0) {
    return invalid("illegal transition, or an attribute that is missing or does not belong to it");
  }
  if (change.verbs != nullptr && check_verbs_values(*change.verbs, change.verbs_mask, record, around) != 0) {
    return invalid("an attribute is out of range");
  }
  if (change.mrc != nullptr && check_mrc_values(*change.mrc, change.mrc_mask, around.limits()) != 0) {
    return invalid("an MRC attribute is out of range");
  }
  if (*next == QpState::reset) record = make_record(kind);
  store(change, record);
  return *next;
}

ibv_qp_state to_verbs(QpState state) {
  switch (state) {
    case QpState::reset: return IBV_QPS_RESET;
    case QpState::init: return IBV_QPS_INIT;
    case QpState::rtr: return IBV_QPS_RTR;
    case QpState::rts: return IBV_QPS_RTS;
    case QpState::error: return IBV_QPS_ERR;
  }
  return IBV_QPS_UNKNOWN;
}

}  // namespace mrc::lib
