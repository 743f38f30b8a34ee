// Work on connected QPs: completions, immediates, local reads, errors, events, and the ibv_wr_* calls.
#include <arpa/inet.h>
#include <gmock/gmock.h>

#include <thread>

#include "verbs/soft_fixture.h"

namespace mrc::verbs {
namespace {

TEST_F(ConnectedVerbs, WriteLandsAndCompletes) {
  std::strcpy(buffer, "over many paths");
  auto sge = sge_at(0, 16);
  auto wr = write_wr(sge, 7);
  ibv_send_wr* bad;
  ASSERT_EQ(ibv_post_send(left, &wr, &bad), 0);
  const auto wc = poll_one();
  EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
  EXPECT_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(wc.wr_id, 7u);
  EXPECT_EQ(wc.qp_num, left->qp_num);
  EXPECT_STREQ(buffer + kSize / 2, "over many paths");
}

TEST_F(ConnectedVerbs, ImmediateArrivesInNetworkOrder) {
  ibv_recv_wr receive{};
  receive.wr_id = 99;
  ibv_recv_wr* bad_receive;
  ASSERT_EQ(ibv_post_recv(right, &receive, &bad_receive), 0);
  auto sge = sge_at(0, 8);
  auto wr = write_wr(sge, 1);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.imm_data = htonl(0x01020304);
  wr.send_flags = 0;
  ibv_send_wr* bad;
  ASSERT_EQ(ibv_post_send(left, &wr, &bad), 0);
  const auto wc = poll_one();
  EXPECT_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(wc.wr_id, 99u);
  EXPECT_EQ(wc.wc_flags, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(wc.imm_data, htonl(0x01020304));
  EXPECT_EQ(wc.byte_len, 8u);
  EXPECT_EQ(wc.qp_num, right->qp_num);
}

TEST_F(ConnectedVerbs, ReadOnTheSameDeviceFlushes) {  // MRC-API-022
  buffer[kSize / 2] = 'x';
  auto sge = sge_at(0, 1);
  auto wr = write_wr(sge, 3);
  wr.opcode = IBV_WR_RDMA_READ;
  ibv_send_wr* bad;
  ASSERT_EQ(ibv_post_send(left, &wr, &bad), 0);
  EXPECT_EQ(poll_one().opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(buffer[0], 'x');
}

TEST_F(ConnectedVerbs, LongListsGoOutWhole) {
  std::array<ibv_sge, 50> sges;
  std::array<ibv_send_wr, 50> wrs;
  for (std::size_t i = 0; i < wrs.size(); ++i) {
    sges[i] = sge_at(i, 1);
    wrs[i] = write_wr(sges[i], i);
    wrs[i].next = i + 1 < wrs.size() ? &wrs[i + 1] : nullptr;
  }
  ibv_send_wr* bad;
  ASSERT_EQ(ibv_post_send(left, wrs.data(), &bad), 0);
  std::array<ibv_wc, 64> wc;
  ASSERT_EQ(ibv_poll_cq(cq, 64, wc.data()), 50);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(wc[i].wr_id, i);
}

TEST_F(ConnectedVerbs, BadRequestIsNamedAndThoseBeforeItWereTaken) {
  auto sge = sge_at(0, 1);
  const struct {
    const char* what;
    int error;
    void (*spoil)(ibv_send_wr&);
  } bads[] = {{"send", EOPNOTSUPP, [](ibv_send_wr& w) { w.opcode = IBV_WR_SEND; }},
              {"atomic", EOPNOTSUPP, [](ibv_send_wr& w) { w.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD; }},
              {"nonsense", EINVAL, [](ibv_send_wr& w) { w.opcode = static_cast<ibv_wr_opcode>(77); }},
              {"segments", EINVAL, [](ibv_send_wr& w) { w.num_sge = 5; }},
              {"negative", EINVAL, [](ibv_send_wr& w) { w.num_sge = -1; }},
              {"no list", EINVAL, [](ibv_send_wr& w) { w.sg_list = nullptr; }},
              {"flags", EINVAL, [](ibv_send_wr& w) { w.send_flags |= IBV_SEND_IP_CSUM; }},
              {"inline", EINVAL, [](ibv_send_wr& w) {
                 w.send_flags |= IBV_SEND_INLINE;
                 w.sg_list->length = 65;
               }}};
  for (const auto& bad : bads) {
    auto good_sge = sge_at(0, 1);
    auto good = write_wr(good_sge, 1);
    sge = sge_at(0, 1);
    auto wrong = write_wr(sge, 2);
    bad.spoil(wrong);
    good.next = &wrong;
    ibv_send_wr* stopped = nullptr;
    EXPECT_EQ(ibv_post_send(left, &good, &stopped), bad.error) << bad.what;
    EXPECT_EQ(stopped, &wrong) << bad.what;
    EXPECT_EQ(poll_one().wr_id, 1u) << bad.what;
    EXPECT_EQ(ibv_post_send(left, &wrong, &stopped), bad.error) << bad.what;
    EXPECT_EQ(stopped, &wrong) << bad.what;
  }
}

TEST_F(ConnectedVerbs, ReceivesBeyondTheQueue) {
  std::array<ibv_recv_wr, 40> receives{};
  for (std::size_t i = 0; i + 1 < receives.size(); ++i) receives[i].next = &receives[i + 1];
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(right, receives.data(), &bad), ENOMEM);
  EXPECT_EQ(bad, &receives[32]);
}

TEST_F(ConnectedVerbs, WrongRkeyIsARemoteAccessErrorAndNothingIsWritten) {
  auto sge = sge_at(0, 8);
  auto wr = write_wr(sge, 5);
  buffer[0] = 1;
  wr.wr.rdma.rkey ^= 0x5555;
  ibv_send_wr* bad;
  ASSERT_EQ(ibv_post_send(left, &wr, &bad), 0);
  EXPECT_EQ(poll_one().status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(buffer[kSize / 2], 0);
  ibv_async_event event;
  ASSERT_EQ(ibv_get_async_event(context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
  EXPECT_EQ(event.element.qp, right);
  std::thread acknowledges([&] { ibv_ack_async_event(&event); });
  acknowledges.join();
  // left's own event is not taken: destroying the QP in the fixture must not wait for it.
}

TEST_F(ConnectedVerbs, EventPerArmedCompletion) {
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  auto sge = sge_at(0, 1);
  auto wr = write_wr(sge, 1);
  ibv_send_wr* bad;
  ASSERT_EQ(ibv_post_send(left, &wr, &bad), 0);
  ASSERT_EQ(ibv_post_send(left, &wr, &bad), 0);
  ibv_cq* which;
  void* user;
  ASSERT_EQ(ibv_get_cq_event(channel, &which, &user), 0);
  EXPECT_EQ(which, cq);
  EXPECT_EQ(user, this);
  ibv_ack_cq_events(cq, 1);
  EXPECT_EQ(poll_one().wr_id, 1u);
}

TEST_F(ConnectedVerbs, OverrunIsTold) {
  auto sge = sge_at(0, 1);
  auto wr = write_wr(sge, 1);
  ibv_send_wr* bad;
  for (int i = 0; i < 65; ++i) ASSERT_EQ(ibv_post_send(left, &wr, &bad), 0);
  ibv_async_event event;
  ASSERT_EQ(ibv_get_async_event(context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event.element.cq, cq);
  ibv_ack_async_event(&event);
  std::array<ibv_wc, 80> wc;
  EXPECT_EQ(ibv_poll_cq(cq, 80, wc.data()), 64);
  errno = 0;
  EXPECT_EQ(ibv_poll_cq(cq, 1, wc.data()), -1);
  EXPECT_EQ(errno, EOVERFLOW);
}

class BuiltWork : public ConnectedVerbs {
 protected:
  BuiltWork() {
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = {8, 8, 4, 1, 64};
    init.qp_type = IBV_QPT_RC;
    init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.pd = pd;
    init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    made = ibv_create_qp_ex(context, &init);
    built = ibv_qp_to_qp_ex(made);
    connect(made, right->qp_num);
  }
  ~BuiltWork() override { EXPECT_EQ(ibv_destroy_qp(made), 0); }
  ibv_qp* made;
  ibv_qp_ex* built;
};

TEST_F(BuiltWork, WritesWithSegmentsAndInline) {
  std::strcpy(buffer, "abcdef");
  ASSERT_NE(built, nullptr);
  EXPECT_EQ(ibv_qp_to_qp_ex(left), nullptr);
  ibv_wr_start(built);
  built->wr_id = 11;
  built->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(built, mr->rkey, address(1000));
  const ibv_sge list[] = {sge_at(3, 3), sge_at(0, 3)};
  ibv_wr_set_sge_list(built, 2, list);
  built->wr_id = 12;
  ibv_wr_rdma_write(built, mr->rkey, address(1006));
  char local[] = "!?";
  ibv_wr_set_inline_data(built, local, 2);
  local[0] = 'z';  // the program may reuse its buffer at once
  ASSERT_EQ(ibv_wr_complete(built), 0);
  EXPECT_EQ(poll_one().wr_id, 11u);
  EXPECT_EQ(poll_one().wr_id, 12u);
  EXPECT_STREQ(buffer + 1000, "defabc!?");
}

TEST_F(BuiltWork, AbortPostsNothingAndTooManyPostNothing) {
  ibv_wr_start(built);
  ibv_wr_rdma_write(built, mr->rkey, address(0));
  ibv_wr_abort(built);
  ibv_wr_start(built);
  for (int i = 0; i < 9; ++i) {
    built->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(built, mr->rkey, address(0));
    ibv_wr_set_sge(built, mr->lkey, address(8), 8);
  }
  EXPECT_EQ(ibv_wr_complete(built), ENOMEM);
  ibv_wc wc;
  EXPECT_EQ(ibv_poll_cq(cq, 1, &wc), 0);
}

TEST_F(BuiltWork, InlineBeyondTheLimit) {
  ibv_wr_start(built);
  ibv_wr_rdma_write(built, mr->rkey, address(0));
  ibv_wr_set_inline_data(built, buffer, 65);
  EXPECT_EQ(ibv_wr_complete(built), EINVAL);
}

}  // namespace
}  // namespace mrc::verbs
