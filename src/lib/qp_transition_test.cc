// The errno table of modify_qp: each transition, each missing or foreign attribute, each bound.
#include "lib/qp_transition.h"

#include <gtest/gtest.h>

#include <functional>

namespace mrc::lib {
namespace {

using engine::QpState;

class Around final : public QpSurroundings {
 public:
  const Limits& limits() const override { return limits_; }
  int port_count() const override { return 2; }
  std::size_t gid_count(PortId) const override { return 4; }
  ibv_mtu active_mtu(PortId) const override { return IBV_MTU_2048; }
  Limits limits_;
};

constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kMrcRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int kRtr = kMrcRtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kMrcRts = IBV_QP_STATE | IBV_QP_SQ_PSN;
constexpr int kRts = kMrcRts | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

ibv_qp_attr good(ibv_qp_state state) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = 0x123456;
  attr.rq_psn = 0xFFFFFF;
  attr.sq_psn = 0xFFFFFE;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.sgid_index = 3;
  attr.ah_attr.grh.dgid.raw[15] = 1;
  attr.ah_attr.grh.traffic_class = 0x68;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  return attr;
}

int try_verbs(QpKind kind, QpState from, const ibv_qp_attr& attr, int mask) {
  Around around;
  QpRecord record = make_record(kind);
  const auto next = apply(kind, from, {.verbs = &attr, .verbs_mask = mask}, around, record);
  return next ? 0 : next.error().code;
}

struct Step {
  QpState from;
  ibv_qp_state to;
  int mask;
};
const Step kSteps[] = {{QpState::reset, IBV_QPS_INIT, kInit},
                       {QpState::init, IBV_QPS_RTR, kRtr},
                       {QpState::rtr, IBV_QPS_RTS, kRts}};

TEST(QpTransition, EachNeededAttributeIsMissed) {
  for (const auto& step : kSteps) {
    EXPECT_EQ(try_verbs(QpKind::rc, step.from, good(step.to), step.mask), 0);
    for (int bit = 1; bit <= step.mask; bit <<= 1) {
      if ((step.mask & bit) == 0 || bit == IBV_QP_STATE) continue;
      EXPECT_EQ(try_verbs(QpKind::rc, step.from, good(step.to), step.mask & ~bit), EINVAL)
          << "without " << bit;
    }
  }
}

TEST(QpTransition, ForeignAttributesAreRefused) {
  for (const auto& step : kSteps) {
    for (const int bit : {IBV_QP_QKEY, IBV_QP_CAP, IBV_QP_RATE_LIMIT, IBV_QP_ALT_PATH}) {
      EXPECT_EQ(try_verbs(QpKind::rc, step.from, good(step.to), step.mask | bit), EINVAL) << bit;
      EXPECT_EQ(try_verbs(QpKind::mrc, step.from, good(step.to), step.mask | bit), EINVAL) << bit;
    }
  }
}

TEST(QpTransition, OnlyTheLegalOnes) {
  const QpState states[] = {QpState::reset, QpState::init, QpState::rtr, QpState::rts, QpState::error};
  const ibv_qp_state targets[] = {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QPS_SQE};
  for (const auto from : states) {
    EXPECT_EQ(try_verbs(QpKind::rc, from, good(IBV_QPS_RESET), IBV_QP_STATE), 0);
    EXPECT_EQ(try_verbs(QpKind::rc, from, good(IBV_QPS_ERR), IBV_QP_STATE), 0);
    for (const auto to : targets) {
      int mask = to == IBV_QPS_INIT ? kInit : to == IBV_QPS_RTR ? kRtr : kRts;
      if (from == QpState::rts && to == IBV_QPS_RTS) mask = IBV_QP_STATE;
      const bool legal =
          (from == QpState::reset && to == IBV_QPS_INIT) || (from == QpState::init && to == IBV_QPS_INIT) ||
          (from == QpState::init && to == IBV_QPS_RTR) || (from == QpState::rtr && to == IBV_QPS_RTS) ||
          (from == QpState::rts && to == IBV_QPS_RTS);
      EXPECT_EQ(try_verbs(QpKind::rc, from, good(to), mask), legal ? 0 : EINVAL)
          << static_cast<int>(from) << " to " << to;
    }
  }
}

TEST(QpTransition, CurrentStateIsChecked) {
  auto attr = good(IBV_QPS_RTS);
  attr.cur_qp_state = IBV_QPS_RTR;
  EXPECT_EQ(try_verbs(QpKind::rc, QpState::rtr, attr, kRts | IBV_QP_CUR_STATE), 0);
  attr.cur_qp_state = IBV_QPS_INIT;
  EXPECT_EQ(try_verbs(QpKind::rc, QpState::rtr, attr, kRts | IBV_QP_CUR_STATE), EINVAL);
}

TEST(QpTransition, WhatRealMrcClientsPassIsAccepted) {  // MRC-API-020
  EXPECT_EQ(try_verbs(QpKind::mrc, QpState::reset, good(IBV_QPS_INIT), kInit), 0);
  EXPECT_EQ(try_verbs(QpKind::mrc, QpState::reset, good(IBV_QPS_INIT), IBV_QP_STATE), 0);
  EXPECT_EQ(try_verbs(QpKind::mrc, QpState::init, good(IBV_QPS_RTR), kMrcRtr), 0);
  EXPECT_EQ(try_verbs(QpKind::mrc, QpState::init, good(IBV_QPS_RTR), kRtr | IBV_QP_PORT), 0);
  EXPECT_EQ(try_verbs(QpKind::mrc, QpState::rtr, good(IBV_QPS_RTS), kMrcRts), 0);
  EXPECT_EQ(try_verbs(QpKind::mrc, QpState::rtr, good(IBV_QPS_RTS), kRts | IBV_QP_MIN_RNR_TIMER), 0);
  auto portless = good(IBV_QPS_RTR);
  portless.ah_attr.port_num = 0;
  EXPECT_EQ(try_verbs(QpKind::mrc, QpState::init, portless, kMrcRtr), 0);
  EXPECT_EQ(try_verbs(QpKind::rc, QpState::init, portless, kRtr), EINVAL);
}

TEST(QpTransition, EachBound) {
  struct Bad {
    const char* what;
    QpState from;
    ibv_qp_state to;
    int mask;
    std::function<void(ibv_qp_attr&)> spoil;
  };
  const Bad bads[] = {
      {"pkey", QpState::reset, IBV_QPS_INIT, kInit, [](auto& a) { a.pkey_index = 1; }},
      {"port 0", QpState::reset, IBV_QPS_INIT, kInit, [](auto& a) { a.port_num = 0; }},
      {"port 3", QpState::reset, IBV_QPS_INIT, kInit, [](auto& a) { a.port_num = 3; }},
      {"no GRH", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.ah_attr.is_global = 0; }},
      {"gid index", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.ah_attr.grh.sgid_index = 4; }},
      {"address port", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.ah_attr.port_num = 9; }},
      {"no dgid", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.ah_attr.grh.dgid = {}; }},
      {"multicast", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.ah_attr.grh.dgid.raw[0] = 0xff; }},
      {"mtu 0", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.path_mtu = ibv_mtu{}; }},
      {"mtu above the link's", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.path_mtu = IBV_MTU_4096; }},
      {"qpn", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.dest_qp_num = 1 << 24; }},
      {"rq psn", QpState::init, IBV_QPS_RTR, kRtr, [](auto& a) { a.rq_psn = 1 << 24; }},
      {"sq psn", QpState::rtr, IBV_QPS_RTS, kRts, [](auto& a) { a.sq_psn = 1 << 24; }},
      {"timeout", QpState::rtr, IBV_QPS_RTS, kRts, [](auto& a) { a.timeout = 32; }},
      {"retry", QpState::rtr, IBV_QPS_RTS, kRts, [](auto& a) { a.retry_cnt = 8; }},
      {"rnr", QpState::rtr, IBV_QPS_RTS, kRts, [](auto& a) { a.rnr_retry = 8; }},
  };
  for (const auto& bad : bads) {
    auto attr = good(bad.to);
    bad.spoil(attr);
    EXPECT_EQ(try_verbs(QpKind::rc, bad.from, attr, bad.mask), EINVAL) << bad.what;
  }
}

int try_mrc(QpState from, ibv_qp_state to, int mask, const mrc_qp_attr& attr, QpRecord* out = nullptr) {
  Around around;
  QpRecord record = make_record(QpKind::mrc);
  const auto verbs = good(to);
  const int verbs_mask = to == IBV_QPS_INIT ? kInit : to == IBV_QPS_RTR ? kMrcRtr : kMrcRts;
  const QpChange change{.verbs = &verbs, .verbs_mask = verbs_mask, .mrc = &attr, .mrc_mask = mask};
  const auto next = apply(QpKind::mrc, from, change, around, record);
  if (out != nullptr) *out = record;
  return next ? 0 : next.error().code;
}

mrc_qp_attr good_mrc() {
  mrc_qp_attr attr{};
  attr.mpr = {16, 24};
  attr.wimm = {100, 200};
  attr.timeout = 20;
  attr.profile = {5, 6};
  attr.retry = {3, 25};
  return attr;
}

TEST(QpTransition, MrcAttributesHaveTheirTransitions) {
  const int until_init = MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID | MRC_QP_HINT;
  const int until_rtr = MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM_DEST | MRC_QP_CAP;
  const int until_rts = MRC_QP_MPR | MRC_QP_MAX_WIMM;
  const int any_time = MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT | MRC_QP_VENDOR_CFG;
  const struct {
    QpState from;
    ibv_qp_state to;
    int allowed;
  } steps[] = {{QpState::reset, IBV_QPS_INIT, until_init | until_rtr | until_rts | any_time},
               {QpState::init, IBV_QPS_RTR, until_rtr | until_rts | any_time},
               {QpState::rtr, IBV_QPS_RTS, until_rts | any_time}};
  for (const auto& step : steps) {
    EXPECT_EQ(try_mrc(step.from, step.to, step.allowed, good_mrc()), 0);
    for (int i = 0; i < 10; ++i) {
      const int bit = 1 << i;
      EXPECT_EQ(try_mrc(step.from, step.to, bit, good_mrc()), (step.allowed & bit) != 0 ? 0 : EINVAL) << bit;
    }
    EXPECT_EQ(try_mrc(step.from, step.to, 1 << 10, good_mrc()), EINVAL);
  }
}

TEST(QpTransition, MrcBounds) {
  const struct {
    const char* what;
    int mask;
    std::function<void(mrc_qp_attr&)> spoil;
  } bads[] = {
      {"mpr below 8", MRC_QP_MPR, [](auto& a) { a.mpr.mpr = 7; }},
      {"mpr above the device's", MRC_QP_MPR, [](auto& a) { a.mpr.mpr = 129; }},
      {"mpr_dest below 8", MRC_QP_MPR_DEST, [](auto& a) { a.mpr.mpr_dest = 0; }},
      {"no wimm", MRC_QP_MAX_WIMM, [](auto& a) { a.wimm.max_wimm = 0; }},
      {"wimm above the device's", MRC_QP_MAX_WIMM, [](auto& a) { a.wimm.max_wimm = 16385; }},
      {"wimm_dest above the device's", MRC_QP_MAX_WIMM_DEST, [](auto& a) { a.wimm.max_wimm_dest = 16385; }},
      {"timeout above 24", MRC_QP_TIMEOUT, [](auto& a) { a.timeout = 25; }},
      {"linear above 7", MRC_QP_RETRY_CNT, [](auto& a) { a.retry.linear_cnt = 8; }},
      {"exponential above 25", MRC_QP_RETRY_CNT, [](auto& a) { a.retry.exp_cnt = 26; }},
      {"unknown capability", MRC_QP_CAP, [](auto& a) { a.cap = 8; }},
  };
  for (const auto& bad : bads) {
    auto attr = good_mrc();
    bad.spoil(attr);
    EXPECT_EQ(try_mrc(QpState::reset, IBV_QPS_INIT, bad.mask, attr), EINVAL) << bad.what;
  }
}

TEST(QpTransition, VerbsTimersCountUntilMrcOnesAreGiven) {  // MRC-API-021
  Around around;
  QpRecord record = make_record(QpKind::mrc);
  const auto verbs = good(IBV_QPS_RTS);
  auto mrc = good_mrc();
  ASSERT_TRUE(apply(QpKind::mrc, QpState::rtr, {.verbs = &verbs, .verbs_mask = kRts}, around, record));
  EXPECT_EQ(to_attributes(record).timeout, 14);
  EXPECT_EQ(to_attributes(record).linear_retries, 7);
  EXPECT_EQ(to_attributes(record).exponential_retries, 7);  // of which verbs know nothing
  const QpChange both{
      .verbs = &verbs, .verbs_mask = kRts, .mrc = &mrc, .mrc_mask = MRC_QP_TIMEOUT | MRC_QP_RETRY_CNT};
  ASSERT_TRUE(apply(QpKind::mrc, QpState::rtr, both, around, record));
  EXPECT_EQ(to_attributes(record).timeout, 20);
  EXPECT_EQ(to_attributes(record).linear_retries, 3);
  EXPECT_EQ(to_attributes(record).exponential_retries, 25);
}

TEST(QpTransition,
     TimersOfThePublishedBenchmark) {  // MRC-API-020, MRC-API-021: retry counts of 14, timeout 7
  Around around;
  QpRecord record = make_record(QpKind::mrc);
  auto verbs = good(IBV_QPS_RTS);
  verbs.timeout = 7;
  verbs.retry_cnt = verbs.rnr_retry = 14;
  ASSERT_TRUE(apply(QpKind::mrc, QpState::rtr, {.verbs = &verbs, .verbs_mask = kRts}, around, record));
  EXPECT_EQ(to_attributes(record).timeout, 12);
  EXPECT_EQ(to_attributes(record).linear_retries, 7);
  verbs.timeout = 0;  // never
  ASSERT_TRUE(apply(QpKind::mrc, QpState::rtr, {.verbs = &verbs, .verbs_mask = kRts}, around, record));
  EXPECT_EQ(to_attributes(record).timeout, 0);
}

TEST(QpTransition, AttributesReachTheDevice) {
  Around around;
  QpRecord record = make_record(QpKind::mrc);
  auto mrc = good_mrc();
  mrc.cap = MRC_QP_CAP_DYNAMIC_MPR | MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED;
  const auto init = good(IBV_QPS_INIT), rtr = good(IBV_QPS_RTR), rts = good(IBV_QPS_RTS);
  const int profile = MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID;
  ASSERT_TRUE(apply(QpKind::mrc, QpState::reset,
                    {.verbs = &init, .verbs_mask = kInit, .mrc = &mrc, .mrc_mask = profile}, around, record));
  ASSERT_TRUE(
      apply(QpKind::mrc, QpState::init,
            {.verbs = &rtr, .verbs_mask = kMrcRtr, .mrc = &mrc, .mrc_mask = MRC_QP_MPR_DEST | MRC_QP_CAP},
            around, record));
  ASSERT_TRUE(
      apply(QpKind::mrc, QpState::rtr,
            {.verbs = &rts, .verbs_mask = kMrcRts, .mrc = &mrc, .mrc_mask = MRC_QP_MPR | MRC_QP_MAX_WIMM},
            around, record));
  const auto out = to_attributes(record);
  EXPECT_EQ(out.ev_profile, 5u);
  EXPECT_EQ(out.cc_profile, 6u);
  EXPECT_TRUE(out.remote_write);
  EXPECT_EQ(out.remote_qpn, Qpn(0x123456));
  EXPECT_EQ(out.path_mtu, 1024);
  EXPECT_EQ(out.sgid_index, 3);
  EXPECT_EQ(out.traffic_class, 0x68);
  EXPECT_EQ(out.remote_gid[15], 1);
  EXPECT_EQ(out.receive_psn, Psn(0xFFFFFF));
  EXPECT_EQ(out.send_psn, Psn(0xFFFFFE));
  EXPECT_EQ(out.mpr, 16);
  EXPECT_EQ(out.mpr_dest, 24);
  EXPECT_EQ(out.max_wimm, 100);
  EXPECT_TRUE(out.dynamic_mpr);
  EXPECT_FALSE(out.peer_trim_nack);
  EXPECT_TRUE(out.peer_service_time);
}

TEST(QpTransition, AFailedChangeLeavesTheRecord) {
  Around around;
  QpRecord record = make_record(QpKind::rc);
  auto attr = good(IBV_QPS_INIT);
  attr.port_num = 2;
  attr.pkey_index = 1;
  EXPECT_FALSE(apply(QpKind::rc, QpState::reset, {.verbs = &attr, .verbs_mask = kInit}, around, record));
  EXPECT_EQ(record.verbs.port_num, 1);
}

TEST(QpTransition, NullAttributes) {
  Around around;
  QpRecord record = make_record(QpKind::mrc);
  EXPECT_FALSE(apply(QpKind::mrc, QpState::reset, {.verbs_mask = IBV_QP_STATE}, around, record));
  EXPECT_FALSE(apply(QpKind::mrc, QpState::reset, {.mrc_mask = MRC_QP_TIMEOUT}, around, record));
}

}  // namespace
}  // namespace mrc::lib
