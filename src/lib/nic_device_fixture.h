// For tests: devices of one process over loopback, with real sockets and real progress threads.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "lib/nic_device.h"

namespace mrc::lib::testing {

using engine::QpState;
using engine::WorkStatus;

inline DeviceConfig loopback(const char* name, std::uint8_t last) {
  DeviceConfig config;
  config.name = name;
  PortConfig port;
  port.id = PortId(1);
  port.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, last};
  config.ports.push_back(port);
  return config;
}

inline DeviceSettings settings() {
  DeviceSettings s;
  s.udp_port = 14792;
  s.evs = 8;
  return s;
}

/// Counts what it is told, and lets a test wait for it.
struct Ear final : CqListener, QpListener {
  void on_cq_event() override { hear(events); }
  void on_cq_overrun() override { hear(overruns); }
  void on_qp_fatal(bool) override { hear(fatal); }
  void on_established() override { hear(established); }
  void hear(int& what) {
    const std::lock_guard lock(mutex);
    ++what;
    changed.notify_all();
  }
  bool wait_for(const int& what, int n) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return what >= n; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  int events = 0, overruns = 0, fatal = 0, established = 0;
};

/// Counts what a device tells of one of its ports.
struct PortEar final : DeviceListener {
  explicit PortEar(PortId which) : mine(which) {}
  void on_port(PortId port, bool active) override {
    hear([&] { (active ? up : down) += port == mine; });
  }
  void on_gid_change(PortId port) override {
    hear([&] { gids += port == mine; });
  }
  template <class Change>
  void hear(Change&& change) {
    const std::lock_guard lock(mutex);
    change();
    changed.notify_all();
  }
  bool wait_for(const int& what, int n) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), [&] { return what >= n; });
  }
  const PortId mine;
  std::mutex mutex;
  std::condition_variable changed;
  int up = 0, down = 0, gids = 0;
};

/// One side: a device, a domain, a CQ, memory.
inline std::shared_ptr<NicDevice> open(const DeviceConfig& config, const DeviceSettings& with = settings()) {
  auto opened = NicDevice::open(config, with);
  if (!opened) ADD_FAILURE() << opened.error().what;
  return *opened;
}

struct Side {
  explicit Side(const DeviceConfig& config, const DeviceSettings& with = settings())
      : Side(open(config, with)) {}
  explicit Side(std::shared_ptr<NicDevice> opened) : device(std::move(opened)), memory(1 << 20) {
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<char>(i * 31 + device->config().ports[0].address[15]);
    pd = *device->create_pd();
    cq = *device->create_cq(256, &ear);
    region = *device->register_memory(pd, memory.data(), memory.size(),
                                      reinterpret_cast<std::uint64_t>(memory.data()),
                                      {.local_write = true, .remote_write = true, .remote_read = true});
  }
  ~Side() {
    for (QueuePair* qp : qps) EXPECT_EQ(device->destroy_qp(qp), 0);
    EXPECT_EQ(device->deregister(region), 0);
    EXPECT_EQ(device->destroy_cq(cq), 0);
    EXPECT_EQ(device->destroy_pd(pd), 0);
  }
  QueuePair* create() {
    QpInit init{.pd = pd,
                .send_cq = cq,
                .recv_cq = cq,
                .send_depth = 64,
                .recv_depth = 64,
                .max_inline = 64,
                .listener = &ear};
    return qps.emplace_back(*device->create_qp(init));
  }
  std::uint64_t va(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory.data()) + offset;
  }
  /// Polls until n completions are in and takes no more, or gives up.
  std::vector<WorkCompletion> poll(std::size_t n) {
    std::vector<WorkCompletion> all;
    const Time end = steady_now() + 20s;
    WorkCompletion some[4];
    while (all.size() < n && steady_now() < end) {
      const int got = cq->poll(std::span(some, std::min<std::size_t>(4, n - all.size())));
      if (got < 0) break;
      all.insert(all.end(), some, some + got);
    }
    return all;
  }

  Ear ear;
  std::shared_ptr<NicDevice> device;
  std::vector<char> memory;
  Pd pd;
  CompletionQueue* cq = nullptr;
  Region region;
  std::vector<QueuePair*> qps;
};

inline QpAttributes attributes(const Side& peer, Qpn remote) {
  QpAttributes a;
  a.remote_write = a.remote_read = true;
  a.remote_gid = peer.device->config().ports[0].address;
  a.remote_qpn = remote;
  return a;
}

inline void raise(QueuePair* qp, const QpAttributes& a) {
  for (const QpState next : {QpState::init, QpState::rtr, QpState::rts}) ASSERT_EQ(qp->modify(next, a), 0);
}

struct TwoDevices : ::testing::Test {
  Side a{loopback("a", 1)}, b{loopback("b", 2)};
  QueuePair* qa = a.create();
  QueuePair* qb = b.create();

  void SetUp() override {
    raise(qa, attributes(b, qb->qpn()));
    raise(qb, attributes(a, qa->qpn()));
  }
  QueuePair::Posted write(std::size_t from, std::size_t to, std::uint32_t length, std::uint64_t id,
                          SendOp op = SendOp::write) {
    const Sge sge{a.va(from), length, a.region.lkey};
    SendRequest r;
    r.wr_id = id;
    r.remote_va = b.va(to);
    r.rkey = b.region.rkey;
    r.op = op;
    r.imm = 99;
    r.sges = std::span(&sge, 1);
    return qa->post_send(std::span(&r, 1));
  }
};

}  // namespace mrc::lib::testing
