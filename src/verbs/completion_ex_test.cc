// The extended completion queue, as programs that read field by field use it.
#include <arpa/inet.h>

#include "verbs/soft_fixture.h"

namespace mrc::verbs {
namespace {

class ExtendedCq : public ConnectedVerbs {
 protected:
  ExtendedCq() {
    ibv_cq_init_attr_ex init{};
    init.cqe = 16;
    init.wc_flags = IBV_WC_STANDARD_FLAGS;
    extended = ibv_create_cq_ex(context, &init);
    EXPECT_NE(extended, nullptr);
    ibv_qp_init_attr both = qp_init();
    both.send_cq = both.recv_cq = ibv_cq_ex_to_cq(extended);
    from = ibv_create_qp(pd, &both);
    to = ibv_create_qp(pd, &both);
    connect(from, to->qp_num);
    connect(to, from->qp_num);
  }
  ~ExtendedCq() override {
    EXPECT_EQ(ibv_destroy_qp(from), 0);
    EXPECT_EQ(ibv_destroy_qp(to), 0);
    EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(extended)), 0);
  }
  ibv_cq_ex* extended = nullptr;
  ibv_qp *from = nullptr, *to = nullptr;
};

TEST_F(ExtendedCq, ReadsFieldByField) {
  ibv_poll_cq_attr attr{};
  EXPECT_EQ(ibv_start_poll(extended, &attr), ENOENT);
  ibv_recv_wr receive{};
  receive.wr_id = 99;
  ibv_recv_wr* bad_receive;
  ASSERT_EQ(ibv_post_recv(to, &receive, &bad_receive), 0);
  auto sge = sge_at(0, 8);
  auto wr = write_wr(sge, 7);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.imm_data = htonl(5);
  ibv_send_wr* bad;
  ASSERT_EQ(ibv_post_send(from, &wr, &bad), 0);
  int sends = 0, receives = 0;
  ASSERT_EQ(ibv_start_poll(extended, &attr), 0);
  do {
    EXPECT_EQ(extended->status, IBV_WC_SUCCESS);
    if (ibv_wc_read_opcode(extended) == IBV_WC_RECV_RDMA_WITH_IMM) {
      ++receives;
      EXPECT_EQ(extended->wr_id, 99u);
      EXPECT_EQ(ibv_wc_read_imm_data(extended), htonl(5));
      EXPECT_EQ(ibv_wc_read_byte_len(extended), 8u);
      EXPECT_EQ(ibv_wc_read_wc_flags(extended), unsigned{IBV_WC_WITH_IMM});
      EXPECT_EQ(ibv_wc_read_qp_num(extended), to->qp_num);
    } else {
      ++sends;
      EXPECT_EQ(extended->wr_id, 7u);
      EXPECT_EQ(ibv_wc_read_qp_num(extended), from->qp_num);
    }
  } while (ibv_next_poll(extended) == 0);
  ibv_end_poll(extended);
  EXPECT_EQ(sends, 1);
  EXPECT_EQ(receives, 1);
  EXPECT_EQ(ibv_start_poll(extended, &attr), ENOENT);  // and the lock was given back
  attr.comp_mask = 1;
  EXPECT_EQ(ibv_start_poll(extended, &attr), EINVAL);
}

TEST_F(ExtendedCq, WhatIsNotThereIsRefused) {
  const auto error_of = [&](auto&& change) {
    ibv_cq_init_attr_ex init{};
    init.cqe = 16;
    change(init);
    errno = 0;
    EXPECT_EQ(ibv_create_cq_ex(context, &init), nullptr);
    return errno;
  };
  using Init = ibv_cq_init_attr_ex;
  EXPECT_EQ(error_of([](Init& i) { i.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP; }), EOPNOTSUPP);
  EXPECT_EQ(error_of([](Init& i) { i.comp_mask = 1u << 30; }), EOPNOTSUPP);
  EXPECT_EQ(error_of([](Init& i) {
              i.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
              i.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
            }),
            EOPNOTSUPP);
  EXPECT_EQ(error_of([](Init& i) { i.cqe = 0; }), EINVAL);
  EXPECT_EQ(error_of([](Init& i) { i.comp_vector = 1000; }), EINVAL);
}

}  // namespace
}  // namespace mrc::verbs
