// Verbs objects of a soft device: what programs read from them, and each errno of making and destroying them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <fstream>
#include <string>
#include <thread>

#include "verbs/soft_fixture.h"

namespace mrc::verbs {
namespace {

TEST_F(SoftVerbs, DeviceAndPort) {
  ibv_device_attr attr;
  ASSERT_EQ(ibv_query_device(context, &attr), 0);
  EXPECT_EQ(attr.phys_port_cnt, 1);
  EXPECT_EQ(attr.max_srq, 0);
  ibv_device_attr_ex extended;
  ASSERT_EQ(ibv_query_device_ex(context, nullptr, &extended), 0);
  EXPECT_EQ(extended.orig_attr.max_qp, attr.max_qp);
  ibv_port_attr port;
  ASSERT_EQ(ibv_query_port(context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(port.active_mtu, IBV_MTU_4096);
  EXPECT_EQ(ibv_query_port(context, 0, &port), EINVAL);
  EXPECT_EQ(ibv_query_port(context, 2, &port), EINVAL);
}

// Only a sanitizer sees what was wrong here.
TEST_F(SoftVerbs, TheDeviceIsClosedBeforeItsObjects) {
  static char bytes[64];
  ibv_context* closed = make_context(context->device, device);
  ibv_pd* pd = ibv_alloc_pd(closed);
  ibv_mr* mr = ibv_reg_mr(pd, bytes, sizeof bytes, IBV_ACCESS_LOCAL_WRITE);
  ibv_comp_channel* channel = ibv_create_comp_channel(closed);
  ibv_cq* cq = ibv_create_cq(closed, 4, nullptr, channel, 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.qp_type = IBV_QPT_RC;
  ibv_qp* qp = ibv_create_qp(pd, &init);
  ASSERT_EQ(ibv_close_device(closed), 0);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(SoftVerbs, PortDownShows) {  // MRC-CTL-001
  device->set_port(PortId(1), false);
  ibv_port_attr port;
  ASSERT_EQ(ibv_query_port(context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  ibv_async_event event;
  ASSERT_EQ(ibv_get_async_event(context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(event.element.port_num, 1);
  ibv_ack_async_event(&event);
}

TEST_F(SoftVerbs, GidTableByEachCall) {
  ibv_gid gid, again;
  ASSERT_EQ(ibv_query_gid(context, 1, 3, &gid), 0);
  EXPECT_EQ(gid.raw[10], 0xff);
  EXPECT_EQ(gid.raw[12], 127);
  ibv_gid_entry entry;
  ASSERT_EQ(ibv_query_gid_ex(context, 1, 3, &entry, 0), 0);
  EXPECT_EQ(std::memcmp(&entry.gid, &gid, sizeof gid), 0);
  EXPECT_EQ(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
  std::vector<ibv_gid_entry> table(16);
  const auto count = ibv_query_gid_table(context, table.data(), table.size(), 0);
  ASSERT_GE(count, 4);
  EXPECT_EQ(table[2].gid_type, IBV_GID_TYPE_ROCE_V1);
  EXPECT_EQ(ibv_query_gid(context, 1, static_cast<int>(count), &again), -1);
  EXPECT_EQ(ibv_query_gid(context, 1, -1, &again), -1);
  EXPECT_EQ(ibv_query_gid(context, 7, 0, &again), -1);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 99, &entry, 0), EINVAL);
}

TEST_F(SoftVerbs, OnePkey) {
  __be16 pkey;
  ASSERT_EQ(ibv_query_pkey(context, 1, 0, &pkey), 0);
  EXPECT_EQ(pkey, 0xFFFF);
  EXPECT_EQ(ibv_get_pkey_index(context, 1, pkey), 0);
  EXPECT_EQ(ibv_query_pkey(context, 1, 1, &pkey), -1);
}

TEST_F(SoftVerbs, MemoryThatIsNotThereIsRefused) {
  ibv_pd* pd = ibv_alloc_pd(context);
  char byte;
  void* hole = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const struct {
    void* at;
    std::size_t length;
    unsigned access;
    int error;
  } bads[] = {{&byte, 0, 0, EINVAL},
              {&byte, SIZE_MAX, 0, EINVAL},
              {&byte, 1, IBV_ACCESS_REMOTE_WRITE, EINVAL},
              {&byte, 1, IBV_ACCESS_REMOTE_ATOMIC, EINVAL},
              {&byte, 1, IBV_ACCESS_MW_BIND, EOPNOTSUPP},
              {hole, 8192, IBV_ACCESS_LOCAL_WRITE, EFAULT},
              {reinterpret_cast<void*>(4096), 1, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND, EFAULT},
              {reinterpret_cast<void*>(4096), 1, 0, EFAULT}};
  for (const auto& bad : bads) {
    errno = 0;
    EXPECT_EQ(ibv_reg_mr_iova2(pd, bad.at, bad.length, 0, bad.access), nullptr) << bad.access;
    EXPECT_EQ(errno, bad.error) << bad.length << " " << bad.access;
  }
  ibv_mr* all = ibv_reg_mr(pd, &byte, 1,
                           IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                               IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_RELAXED_ORDERING);
  ASSERT_NE(all, nullptr) << "what NCCL's RDMA transports ask for";
  EXPECT_EQ(ibv_dereg_mr(all), 0);
  ibv_mr* readable = ibv_reg_mr_iova2(pd, hole, 8192, 0, 0);
  ASSERT_NE(readable, nullptr);
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  EXPECT_EQ(ibv_dereg_mr(readable), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  munmap(hole, 8192);
}

std::size_t resident_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kib = 0;
  while (status >> word && word != "VmRSS:") continue;
  status >> kib;
  return kib;
}

TEST_F(SoftVerbs, MemoryOnDemandTakesNoneUntilItIsWrittenTo) {
  constexpr std::size_t kSize = 64 << 20;
  ibv_pd* pd = ibv_alloc_pd(context);
  void* untouched = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(untouched, kSize, MADV_NOHUGEPAGE);
  const std::size_t before = resident_kib();
  ibv_mr* mr = ibv_reg_mr_iova2(pd, untouched, kSize, 0,
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND);
  ASSERT_NE(mr, nullptr);
  EXPECT_LT(resident_kib(), before + (kSize >> 11));
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  munmap(untouched, kSize);
}

TEST_F(SoftVerbs, WrongCqs) {
  for (const auto& [cqe, vector] : {std::pair{0, 0}, {-1, 0}, {1 << 30, 0}, {16, 1}, {16, -1}}) {
    errno = 0;
    EXPECT_EQ(ibv_create_cq(context, cqe, nullptr, nullptr, vector), nullptr) << cqe << " " << vector;
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST_F(SoftVerbs, ChannelAndCqAreBusyWhileUsed) {
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  ibv_cq* cq = ibv_create_cq(context, 16, nullptr, channel, 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);
  ibv_pd* pd = ibv_alloc_pd(context);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = {1, 1, 1, 1, 0};
  init.qp_type = IBV_QPT_RC;
  ibv_qp* qp = ibv_create_qp(pd, &init);
  EXPECT_EQ(ibv_destroy_cq(cq), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
}

TEST_F(ConnectedVerbs, WrongQps) {
  const struct {
    const char* what;
    int error;
    void (*spoil)(ibv_qp_init_attr&);
  } bads[] = {{"UD", EOPNOTSUPP, [](ibv_qp_init_attr& i) { i.qp_type = IBV_QPT_UD; }},
              {"no CQ", EINVAL, [](ibv_qp_init_attr& i) { i.send_cq = nullptr; }},
              {"sends", EINVAL, [](ibv_qp_init_attr& i) { i.cap.max_send_wr = 1 << 20; }},
              {"receives", EINVAL, [](ibv_qp_init_attr& i) { i.cap.max_recv_wr = 1 << 20; }},
              {"segments", EINVAL, [](ibv_qp_init_attr& i) { i.cap.max_send_sge = 17; }},
              {"inline", EINVAL, [](ibv_qp_init_attr& i) { i.cap.max_inline_data = 1 << 20; }}};
  for (const auto& bad : bads) {
    auto init = qp_init();
    bad.spoil(init);
    errno = 0;
    EXPECT_EQ(ibv_create_qp(pd, &init), nullptr) << bad.what;
    EXPECT_EQ(errno, bad.error) << bad.what;
  }
}

TEST_F(ConnectedVerbs, TakesAsMuchAsItPromisesAndNoMore) {
  ibv_device_attr promised;
  ASSERT_EQ(ibv_query_device(context, &promised), 0);
  const auto wr = static_cast<std::uint32_t>(promised.max_qp_wr),
             sge = static_cast<std::uint32_t>(promised.max_sge);
  const struct {
    ibv_qp_cap cap;
    bool taken;
  } asked[] = {{{wr, wr, sge, sge, 0}, true},
               {{wr + 1, 1, 1, 1, 0}, false},
               {{1, wr + 1, 1, 1, 0}, false},
               {{1, 1, sge + 1, 1, 0}, false},
               {{1, 1, 1, sge + 1, 0}, false}};
  for (const auto& [cap, taken] : asked) {
    auto init = qp_init();
    init.cap = cap;
    ibv_qp* qp = ibv_create_qp(pd, &init);
    EXPECT_EQ(qp != nullptr, taken) << cap.max_send_wr << " " << cap.max_recv_wr << " " << cap.max_send_sge;
    if (qp == nullptr) continue;
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
  }
  EXPECT_EQ(ibv_create_cq(context, promised.max_cqe + 1, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(ibv_resize_cq(cq, promised.max_cqe + 1), EINVAL);
  EXPECT_EQ(ibv_resize_cq(cq, promised.max_cqe), 0);
  // Reads never leave the device, and whatever a QP says of them is taken: 255 is the most that it can say.
  EXPECT_EQ(promised.max_qp_rd_atom, 255);
  EXPECT_EQ(promised.max_qp_init_rd_atom, 255);
}

TEST_F(ConnectedVerbs, QueryReturnsWhatWasSet) {
  ibv_qp_attr attr;
  ibv_qp_init_attr init;
  ASSERT_EQ(ibv_query_qp(left, &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(left->state, IBV_QPS_RTS);
  EXPECT_EQ(attr.dest_qp_num, right->qp_num);
  EXPECT_EQ(attr.ah_attr.grh.sgid_index, 3);
  EXPECT_EQ(attr.timeout, 14);
  EXPECT_EQ(init.cap.max_send_wr, 32u);
  EXPECT_EQ(init.recv_cq, cq);
}

}  // namespace
}  // namespace mrc::verbs
