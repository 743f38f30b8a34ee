// mrc.h, call by call: what each returns when it works, and each errno when it is called wrongly.
#include <arpa/inet.h>
#include <fcntl.h>

#include <functional>
#include <thread>

#include "lib/api_fixture.h"

namespace mrc::lib {
namespace {

/// A wrong call: -1 or null with errno, or the errno itself.
struct Wrong {
  const char* what;
  std::function<long()> call;
  long returns;
  int error;  // errno, or 0 where the return value says it
};

void expect_wrong(std::initializer_list<Wrong> calls) {
  for (const auto& wrong : calls) {
    errno = 0;
    EXPECT_EQ(wrong.call(), wrong.returns) << wrong.what;
    if (wrong.error != 0) {
      EXPECT_EQ(errno, wrong.error) << wrong.what;
    }
  }
}

template <class Object>
long null(Object* made) {
  return made == nullptr ? 0 : 1;
}

TEST_F(Api, QueryDevice) {
  mrc_device_attr attr;
  int supported = 0;
  ASSERT_EQ(mrc_query_device(verbs->handle(), &attr, &supported), 0);
  EXPECT_EQ(supported, 1);
  EXPECT_EQ(attr.mrc_protocol_version, 1u);
  EXPECT_GE(attr.mpr_attr.max_mpr, 8);
  EXPECT_GE(attr.wimm_attr.max_wimm, 32);
  EXPECT_EQ(attr.cap, 7u);
  ASSERT_EQ(mrc_query_device_ex(nullptr, context, &attr, &supported), 0);
  EXPECT_EQ(supported, 1);
  ibv_device other{};
  ibv_context foreign{};
  foreign.device = &other;
  ASSERT_EQ(mrc_query_device(&foreign, &attr, &supported), 0);
  EXPECT_EQ(supported, 0);
  expect_wrong(
      {{"no context", [&] { return mrc_query_device(nullptr, &attr, &supported); }, -1, EINVAL},
       {"no attr", [&] { return mrc_query_device(verbs->handle(), nullptr, &supported); }, -1, EINVAL},
       {"no supported", [&] { return mrc_query_device(verbs->handle(), &attr, nullptr); }, -1, EINVAL},
       {"ex", [&] { return mrc_query_device_ex(nullptr, nullptr, &attr, &supported); }, -1, EINVAL},
       {"foreign", [&] { return null(mrc_create_context(&foreign, nullptr)); }, 0, EOPNOTSUPP}});
}

TEST_F(Api, Versions) {
  std::uint32_t current = 0, last = 1, vendor = 0, last_vendor = 1;
  mrc_query_version(&current, &last, &vendor, &last_vendor);
  EXPECT_EQ(current, 0x01000001u);
  EXPECT_EQ(last, 0u);
  EXPECT_EQ(vendor, 0x01000000u);
  EXPECT_EQ(last_vendor, 0u);
  mrc_query_version(nullptr, nullptr, nullptr, nullptr);
}

TEST_F(Api, ContextsOfEachStatedVersion) {  // MRC-API-030
  for (const std::uint32_t version : {0u, 1u, 0x01000000u, 0x01000001u, 0xFFFFFFFFu}) {
    mrc_context_attr attr{version, 0x12345678};
    mrc_context* made = mrc_create_context(verbs->handle(), &attr);
    ASSERT_NE(made, nullptr) << version;
    EXPECT_EQ(mrc_destroy_context(made), 0);
  }
  mrc_context_attr newer{0x01000002, 0};
  expect_wrong({{"newer", [&] { return null(mrc_create_context(verbs->handle(), &newer)); }, 0, EOPNOTSUPP},
                {"no device", [&] { return null(mrc_create_context(nullptr, nullptr)); }, 0, EINVAL},
                {"no context", [&] { return mrc_destroy_context(nullptr); }, -1, EINVAL}});
}

TEST_F(Api, ContextOutlivesTheVerbsContext) {
  verbs.reset();  // ibv_close_device first: programs do it in any order
  mrc_device_attr attr;
  int supported = 0;
  EXPECT_EQ(mrc_query_device_ex(nullptr, context, &attr, &supported), 0);
  mrc_cq* cq = mrc_create_cq(context, 4, nullptr, nullptr, 0);
  EXPECT_EQ(mrc_destroy_cq(cq), 0);
}

TEST_F(Api, ChannelsAndCqs) {
  mrc_comp_channel* channel = nullptr;
  int fd = -1;
  ASSERT_EQ(mrc_create_comp_channel(context, &channel), 0);
  ASSERT_EQ(mrc_get_comp_channel_fd(channel, &fd), 0);
  EXPECT_GE(fd, 0);
  mrc_cq* cq = mrc_create_cq(context, 4, nullptr, channel, 0);
  ASSERT_NE(cq, nullptr);
  mrc_context* other = mrc_create_context(verbs->handle(), nullptr);
  ibv_wc wc;
  EXPECT_EQ(mrc_poll_cq(cq, 1, &wc), 0);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  mrc_cq* which;
  void* user;
  expect_wrong({
      {"channel: no context", [&] { return mrc_create_comp_channel(nullptr, &channel); }, EINVAL, 0},
      {"channel: no place", [&] { return mrc_create_comp_channel(context, nullptr); }, EINVAL, 0},
      {"channel: no channel", [&] { return mrc_destroy_comp_channel(nullptr); }, EINVAL, 0},
      {"channel: in use", [&] { return mrc_destroy_comp_channel(channel); }, EBUSY, 0},
      {"fd: no channel", [&] { return mrc_get_comp_channel_fd(nullptr, &fd); }, -1, EINVAL},
      {"fd: no place", [&] { return mrc_get_comp_channel_fd(channel, nullptr); }, -1, EINVAL},
      {"cq: no context", [&] { return null(mrc_create_cq(nullptr, 4, nullptr, nullptr, 0)); }, 0, EINVAL},
      {"cq: no entries", [&] { return null(mrc_create_cq(context, 0, nullptr, nullptr, 0)); }, 0, EINVAL},
      {"cq: too many", [&] { return null(mrc_create_cq(context, 1 << 30, nullptr, nullptr, 0)); }, 0, EINVAL},
      {"cq: vector", [&] { return null(mrc_create_cq(context, 4, nullptr, nullptr, 1)); }, 0, EINVAL},
      {"cq: another's channel", [&] { return null(mrc_create_cq(other, 4, nullptr, channel, 0)); }, 0,
       EINVAL},
      {"poll: no cq", [&] { return mrc_poll_cq(nullptr, 1, &wc); }, -1, EINVAL},
      {"poll: negative", [&] { return mrc_poll_cq(cq, -1, &wc); }, -1, EINVAL},
      {"poll: no place", [&] { return mrc_poll_cq(cq, 1, nullptr); }, -1, EINVAL},
      {"destroy: no cq", [&] { return mrc_destroy_cq(nullptr); }, EINVAL, 0},
      {"notify: no cq", [&] { return mrc_req_notify_cq(nullptr, 0); }, EINVAL, 0},
      {"event: no channel", [&] { return mrc_get_cq_event(nullptr, &which, &user); }, -1, EINVAL},
      {"event: no place", [&] { return mrc_get_cq_event(channel, nullptr, &user); }, -1, EINVAL},
      {"event: none", [&] { return mrc_get_cq_event(channel, &which, &user); }, -1, EAGAIN},
      {"context: in use", [&] { return mrc_destroy_context(context); }, -1, EBUSY},
  });
  mrc_ack_cq_events(nullptr, 1);
  EXPECT_EQ(mrc_destroy_cq(cq), 0);
  EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
  EXPECT_EQ(mrc_destroy_context(other), 0);
}

TEST_F(ConnectedApi, NoMoreHintsThanTheDeviceSays) {
  mrc_device_attr promised{};
  int supported = 0;
  ASSERT_EQ(mrc_query_device_ex(nullptr, context, &promised, &supported), 0);
  mrc_qp_hint_init_attr init{};
  std::vector<mrc_qp_hint*> hints;
  while (hints.size() < promised.qp_attr.max_qp_hint) {
    hints.push_back(mrc_create_qp_hint(context, &init));
    ASSERT_NE(hints.back(), nullptr) << hints.size();
  }
  EXPECT_EQ(mrc_create_qp_hint(context, &init), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(mrc_destroy_qp_hint(hints.back()), 0);
  hints.back() = mrc_create_qp_hint(context, &init);
  EXPECT_NE(hints.back(), nullptr) << "one went, so one may come";
  for (mrc_qp_hint* hint : hints) mrc_destroy_qp_hint(hint);
}

TEST_F(ConnectedApi, Hints) {
  mrc_qp_hint_init_attr init{};
  init.attr.num_qps_per_peer = 4;
  mrc_qp_hint* hint = mrc_create_qp_hint(context, &init);
  ASSERT_NE(hint, nullptr);
  mrc_qp_hint_attr attr{};
  attr.num_send_peers = 9;
  ASSERT_EQ(mrc_modify_qp_hint(hint, &attr, MRC_QP_HINT_NUM_SEND_PEERS), 0);
  attr = {};
  ASSERT_EQ(mrc_query_qp_hint(hint, &attr, MRC_QP_HINT_NUM_SEND_PEERS | MRC_QP_HINT_NUM_QPS_PER_PEER), 0);
  EXPECT_EQ(attr.num_send_peers, 9);
  EXPECT_EQ(attr.num_qps_per_peer, 4);
  mrc_qp_hint_init_attr negative{};
  negative.attr.num_send_peers = -1;
  mrc_qp_hint_attr bad{};
  bad.num_send_peers = -1;
  expect_wrong({
      {"create: no context", [&] { return null(mrc_create_qp_hint(nullptr, &init)); }, 0, EINVAL},
      {"create: no attr", [&] { return null(mrc_create_qp_hint(context, nullptr)); }, 0, EINVAL},
      {"create: negative", [&] { return null(mrc_create_qp_hint(context, &negative)); }, 0, EINVAL},
      {"query: no hint", [&] { return mrc_query_qp_hint(nullptr, &attr, 1); }, -1, EINVAL},
      {"query: no attr", [&] { return mrc_query_qp_hint(hint, nullptr, 1); }, -1, EINVAL},
      {"query: unknown bit", [&] { return mrc_query_qp_hint(hint, &attr, 8); }, -1, EINVAL},
      {"modify: no hint", [&] { return mrc_modify_qp_hint(nullptr, &attr, 1); }, -1, EINVAL},
      {"modify: negative", [&] { return mrc_modify_qp_hint(hint, &bad, MRC_QP_HINT_NUM_SEND_PEERS); }, -1,
       EINVAL},
      {"destroy: no hint", [&] { return mrc_destroy_qp_hint(nullptr); }, -1, EINVAL},
  });
  auto qp_attr = qp_init();
  mrc_qp* qp = mrc_create_qp(context, &qp_attr);
  ibv_qp_attr vattr{};
  vattr.qp_state = IBV_QPS_INIT;
  mrc_qp_attr with_hint{};
  with_hint.qp_hint = hint;
  ASSERT_EQ(mrc_modify_qp(qp, &vattr, IBV_QP_STATE, &with_hint, MRC_QP_HINT), 0);
  expect_wrong({{"destroy: in use", [&] { return mrc_destroy_qp_hint(hint); }, -1, EBUSY}});
  const auto heard = [&] {  // MRC-API-023
    std::uint32_t qpn = 0;
    mrc_get_qpn(qp, &qpn);
    return device->find(mrc::Qpn(qpn))->attributes().hints.remote_recv_peers;
  };
  EXPECT_EQ(heard(), 0u);
  attr.num_remote_recv_peers = 5;
  ASSERT_EQ(mrc_modify_qp_hint(hint, &attr, MRC_QP_HINT_NUM_REMOTE_RECV_PEERS), 0);
  EXPECT_EQ(heard(), 5u);
  vattr.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(mrc_modify_qp(qp, &vattr, IBV_QP_STATE, nullptr, 0), 0);
  EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
  EXPECT_EQ(mrc_destroy_qp(qp), 0);
}

TEST_F(ConnectedApi, WrongQps) {
  mrc_context* other = mrc_create_context(verbs->handle(), nullptr);
  mrc_cq* ev_cq = mrc_ctl_create_ev_event_cq(context, 4, nullptr, nullptr, 0);
  auto with = [&](const std::function<void(mrc_qp_init_attr&)>& spoil) {
    auto init = qp_init();
    spoil(init);
    return null(mrc_create_qp(context, &init));
  };
  auto good = qp_init();
  expect_wrong({
      {"no context", [&] { return null(mrc_create_qp(nullptr, &good)); }, 0, EINVAL},
      {"no attr", [&] { return null(mrc_create_qp(context, nullptr)); }, 0, EINVAL},
      {"another's CQ", [&] { return null(mrc_create_qp(other, &good)); }, 0, EINVAL},
      {"no send CQ", [&] { return with([](auto& i) { i.send_cq = nullptr; }); }, 0, EINVAL},
      {"EV CQ", [&] { return with([&](auto& i) { i.recv_cq = ev_cq; }); }, 0, EINVAL},
      {"no PD", [&] { return with([](auto& i) { i.pd = nullptr; }); }, 0, EINVAL},
      {"depth", [&] { return with([](auto& i) { i.cap.max_send_wr = 1 << 24; }); }, 0, EINVAL},
      {"version",
       [&] { return with([](auto& i) { i.protocol_version = static_cast<mrc_protocol_version>(2); }); }, 0,
       EINVAL},
      {"sends", [&] { return with([](auto& i) { i.send_ops_flags = IBV_QP_EX_WITH_SEND; }); }, 0, EOPNOTSUPP},
      {"destroy: no QP", [&] { return mrc_destroy_qp(nullptr); }, EINVAL, 0},
      {"destroy: CQ in use", [&] { return mrc_destroy_cq(cq); }, EBUSY, 0},
  });
  EXPECT_TRUE(ev_cq == nullptr || mrc_destroy_cq(ev_cq) == 0);  // nobody but a controller gets one
  EXPECT_EQ(mrc_destroy_context(other), 0);
}

TEST_F(ConnectedApi, QpCallsWithoutWhatTheyNeed) {
  std::uint32_t qpn;
  ibv_qp_attr vattr{};
  mrc_qp_attr attr{};
  mrc_async_event event;
  ibv_send_wr* bad_send;
  ibv_recv_wr* bad_receive;
  expect_wrong({
      {"qpn: no QP", [&] { return mrc_get_qpn(nullptr, &qpn); }, -1, EINVAL},
      {"qpn: no place", [&] { return mrc_get_qpn(left, nullptr); }, -1, EINVAL},
      {"query: no QP", [&] { return mrc_query_qp(nullptr, &vattr, 0, &attr, 0, nullptr); }, EINVAL, 0},
      {"query: no verbs", [&] { return mrc_query_qp(left, nullptr, IBV_QP_STATE, &attr, 0, nullptr); },
       EINVAL, 0},
      {"query: no attr", [&] { return mrc_query_qp(left, &vattr, 0, nullptr, MRC_QP_MPR, nullptr); }, EINVAL,
       0},
      {"modify: no QP", [&] { return mrc_modify_qp(nullptr, &vattr, 0, &attr, 0); }, EINVAL, 0},
      {"modify: no verbs", [&] { return mrc_modify_qp(left, nullptr, IBV_QP_STATE, nullptr, 0); }, EINVAL, 0},
      {"modify: no attr", [&] { return mrc_modify_qp(left, &vattr, 0, nullptr, MRC_QP_TIMEOUT); }, EINVAL, 0},
      {"post_send: no QP", [&] { return mrc_post_send(nullptr, nullptr, &bad_send); }, EINVAL, 0},
      {"post_recv: no QP", [&] { return mrc_post_recv(nullptr, nullptr, &bad_receive); }, EINVAL, 0},
      {"async: no context", [&] { return mrc_get_async_event(nullptr, &event); }, EINVAL, 0},
      {"async: no place", [&] { return mrc_get_async_event(context, nullptr); }, EINVAL, 0},
  });
  mrc_ack_async_event(nullptr);
  EXPECT_EQ(mrc_post_send(left, nullptr, &bad_send), 0);  // an empty list is posted at once
}

TEST_F(ConnectedApi, QueryQp) {
  ibv_qp_attr vattr;
  mrc_qp_attr attr;
  mrc_qp_init_attr init;
  ASSERT_EQ(mrc_query_qp(left, &vattr, IBV_QP_STATE, &attr, MRC_QP_MPR, &init), 0);
  EXPECT_EQ(vattr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.mpr.mpr, 8);
  EXPECT_EQ(attr.timeout, 14);
  EXPECT_EQ(init.send_cq, cq);
  EXPECT_EQ(init.pd, &pd);
  EXPECT_EQ(init.protocol_version, MRC_PROTOCOL_VERSION_1);
  auto older = qp_init();
  older.protocol_version = MRC_PROTOCOL_VERSION_0;
  mrc_qp* qp = mrc_create_qp(context, &older);
  ASSERT_EQ(mrc_query_qp(qp, nullptr, 0, nullptr, 0, &init), 0);
  EXPECT_EQ(init.protocol_version, MRC_PROTOCOL_VERSION_0);
  EXPECT_EQ(mrc_destroy_qp(qp), 0);
}

TEST_F(ConnectedApi, WriteAndImmediate) {
  buffer[0] = 'w';
  ibv_sge sge;
  auto wr = write_wr(sge);
  ibv_send_wr* bad;
  ASSERT_EQ(mrc_post_send(left, &wr, &bad), 0);
  ibv_recv_wr receive{};
  receive.wr_id = 5;
  ibv_recv_wr* bad_receive;
  ASSERT_EQ(mrc_post_recv(right, &receive, &bad_receive), 0);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.imm_data = htonl(77);
  wr.send_flags = IBV_SEND_SOLICITED;
  ASSERT_EQ(mrc_req_notify_cq(cq, 1), 0);
  ASSERT_EQ(mrc_post_send(left, &wr, &bad), 0);
  ibv_wc wc[4];
  ASSERT_EQ(mrc_poll_cq(cq, 4, wc), 2);
  EXPECT_EQ(buffer[512], 'w');
  EXPECT_EQ(wc[0].opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(wc[1].imm_data, htonl(77));
  mrc_cq* which;
  void* user;
  ASSERT_EQ(mrc_get_cq_event(channel, &which, &user), 0);
  EXPECT_EQ(which, cq);
  EXPECT_EQ(user, this);
  mrc_ack_cq_events(cq, 1);
}

TEST_F(ConnectedApi, OnlyWrites) {
  ibv_sge sge;
  ibv_send_wr* bad = nullptr;
  for (const auto opcode : {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP,
                            IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_LOCAL_INV, IBV_WR_BIND_MW}) {
    auto wr = write_wr(sge);
    wr.opcode = opcode;
    EXPECT_EQ(mrc_post_send(left, &wr, &bad), EOPNOTSUPP) << opcode;
    EXPECT_EQ(bad, &wr);
  }
}

TEST_F(ConnectedApi, AsyncEventsHoldTheirQp) {
  ibv_sge sge;
  auto wr = write_wr(sge);
  wr.wr.rdma.rkey = 1;
  ibv_send_wr* bad;
  ASSERT_EQ(mrc_post_send(left, &wr, &bad), 0);
  mrc_async_event event;
  ASSERT_EQ(mrc_get_async_event(context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
  EXPECT_EQ(event.element.qp, right);
  mrc_ack_async_event(&event);
  device->set_port(PortId(1), false);
  ASSERT_EQ(mrc_get_async_event(context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_FATAL);
  mrc_ack_async_event(&event);
  ASSERT_EQ(mrc_get_async_event(context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(event.element.port_num, 1);
  mrc_ack_async_event(&event);
}

}  // namespace
}  // namespace mrc::lib
