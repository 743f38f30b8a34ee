// For tests of the C interface: a context over a MemoryDevice, and what most calls need.
#pragma once

#include <gtest/gtest.h>
#include <mrc.h>
#include <mrc_ctl.h>

#include <cstdlib>
#include <cstring>

#include "lib/memory_device.h"
#include "lib/soft_context.h"

namespace mrc::lib {

class Api : public ::testing::Test {
 protected:
  Api() {
    setenv("MRC_DEVICES", "lo", 1);  // read once per process
    auto* from = soft_devices().all.at(0).get();
    device = std::make_shared<MemoryDevice>(from->config);
    verbs = std::make_unique<SoftContext>(from, device);
    context = mrc_create_context(verbs->handle(), nullptr);
  }
  ~Api() override {
    EXPECT_EQ(mrc_destroy_context(context), 0);
    EXPECT_EQ(device->objects(), 0u) << "a test must destroy what it made";
  }
  SoftPd make_pd() {
    SoftPd pd{};
    pd.context = verbs->handle();
    pd.device = device;
    pd.id = *device->create_pd();
    return pd;
  }

  std::shared_ptr<MemoryDevice> device;
  std::unique_ptr<SoftContext> verbs;
  mrc_context* context = nullptr;
};

/// Two MRC QPs connected to each other, one CQ, one region.
class ConnectedApi : public Api {
 protected:
  ConnectedApi() : pd(make_pd()) {
    EXPECT_EQ(mrc_create_comp_channel(context, &channel), 0);
    cq = mrc_create_cq(context, 64, this, channel, 0);
    auto init = qp_init();
    left = mrc_create_qp(context, &init);
    right = mrc_create_qp(context, &init);
    const auto address = reinterpret_cast<std::uintptr_t>(buffer);
    region = *device->register_memory(pd.id, buffer, sizeof buffer, address, {true, true, false, false});
    connect(left, right);
    connect(right, left);
  }
  ~ConnectedApi() override {
    EXPECT_EQ(mrc_destroy_qp(left), 0);
    EXPECT_EQ(mrc_destroy_qp(right), 0);
    EXPECT_EQ(mrc_destroy_cq(cq), 0);
    EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
    EXPECT_EQ(device->deregister(region), 0);
    EXPECT_EQ(device->destroy_pd(pd.id), 0);
  }
  mrc_qp_init_attr qp_init() {
    mrc_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {32, 32, 2, 1, 64};
    init.pd = &pd;
    init.protocol_version = MRC_PROTOCOL_VERSION_1;
    return init;
  }
  /// As the published benchmark does it: only what MRC needs, no MRC attribute.
  void connect(mrc_qp* qp, mrc_qp* peer) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    ASSERT_EQ(mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                            nullptr, 0),
              0);
    attr = {};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_4096;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.sgid_index = 3;
    std::memcpy(attr.ah_attr.grh.dgid.raw, device->gids(PortId(1))[3].gid.data(), 16);
    ASSERT_EQ(mrc_get_qpn(peer, &attr.dest_qp_num), 0);
    mrc_qp_attr none{};
    ASSERT_EQ(
        mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_PATH_MTU,
                      &none, 0),
        0);
    attr = {};
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = 7;
    attr.rnr_retry = 7;
    ASSERT_EQ(
        mrc_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT,
                      &none, 0),
        0);
  }
  ibv_send_wr write_wr(ibv_sge& sge) {
    sge = {reinterpret_cast<std::uintptr_t>(buffer), 8, region.lkey};
    ibv_send_wr wr{};
    wr.wr_id = 1;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma = {reinterpret_cast<std::uintptr_t>(buffer) + 512, region.rkey};
    return wr;
  }

  SoftPd pd;
  mrc_comp_channel* channel = nullptr;
  mrc_cq* cq = nullptr;
  mrc_qp *left = nullptr, *right = nullptr;
  Region region;
  char buffer[1024] = {};
};

}  // namespace mrc::lib
