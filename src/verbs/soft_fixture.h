// For tests: a context over a MemoryDevice, and two connected QPs on it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "lib/memory_device.h"
#include "verbs/objects.h"

namespace mrc::verbs {

class SoftVerbs : public testing::Test {
 protected:
  SoftVerbs() {
    setenv("MRC_DEVICES", "lo", 1);  // read once per process
    auto* from = lib::soft_devices().all.at(0).get();
    device = std::make_shared<lib::MemoryDevice>(from->config);
    context = make_context(from, device);
  }
  ~SoftVerbs() override {
    EXPECT_EQ(ibv_close_device(context), 0);
    EXPECT_EQ(device->objects(), 0u) << "a test must destroy what it made";
  }

  std::shared_ptr<lib::MemoryDevice> device;
  ibv_context* context = nullptr;
};

inline ibv_qp_attr to_init() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  return attr;
}
inline constexpr int kInitMask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

inline ibv_qp_attr to_rtr(ibv_context* context, std::uint32_t peer) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_4096;
  attr.dest_qp_num = peer;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.sgid_index = 3;
  ibv_query_gid(context, 1, 3, &attr.ah_attr.grh.dgid);
  return attr;
}
inline constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

inline ibv_qp_attr to_rts() {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 14;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  return attr;
}
inline constexpr int kRtsMask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;

inline void connect(ibv_qp* qp, std::uint32_t peer) {
  auto init = to_init();
  auto rtr = to_rtr(qp->context, peer);
  auto rts = to_rts();
  ASSERT_EQ(ibv_modify_qp(qp, &init, kInitMask), 0);
  ASSERT_EQ(ibv_modify_qp(qp, &rtr, kRtrMask), 0);
  ASSERT_EQ(ibv_modify_qp(qp, &rts, kRtsMask), 0);
}

/// Two QPs of one PD, connected to each other, and a buffer that both may use.
class ConnectedVerbs : public SoftVerbs {
 protected:
  static constexpr std::size_t kSize = 4096;
  ConnectedVerbs() {
    pd = ibv_alloc_pd(context);
    channel = ibv_create_comp_channel(context);
    cq = ibv_create_cq(context, 64, this, channel, 0);
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    mr = ibv_reg_mr_iova2(pd, buffer, sizeof buffer, reinterpret_cast<std::uintptr_t>(buffer), access);
    left = make_qp();
    right = make_qp();
    connect(left, right->qp_num);
    connect(right, left->qp_num);
  }
  ~ConnectedVerbs() override {
    EXPECT_EQ(ibv_destroy_qp(left), 0);
    EXPECT_EQ(ibv_destroy_qp(right), 0);
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  }

  ibv_qp_init_attr qp_init() const {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {32, 32, 4, 1, 64};
    init.qp_type = IBV_QPT_RC;
    return init;
  }
  ibv_qp* make_qp() {
    auto init = qp_init();
    return ibv_create_qp(pd, &init);
  }
  ibv_send_wr write_wr(ibv_sge& sge, std::uint64_t id) {
    ibv_send_wr wr{};
    wr.wr_id = id;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = address(kSize / 2);
    wr.wr.rdma.rkey = mr->rkey;
    return wr;
  }
  ibv_sge sge_at(std::size_t offset, std::uint32_t length) { return {address(offset), length, mr->lkey}; }
  std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(buffer) + offset;
  }
  ibv_wc poll_one() {
    ibv_wc wc{};
    EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
    return wc;
  }

  char buffer[kSize] = {};
  ibv_pd* pd;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_mr* mr;
  ibv_qp* left;
  ibv_qp* right;
};

}  // namespace mrc::verbs
