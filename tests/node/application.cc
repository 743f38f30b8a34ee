// An application for tests of a node: two queue pairs of one device write to each other until its input ends.
// Usage: node_application EV_PROFILE CC_PROFILE [busy]
// Says "ready", then a line with the number of completed writes after each line that it reads, some writes
// later; at the end, how it went. Busy: it writes between lines too, without a pause.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "lib/device.h"
#include "lib/discovery.h"

namespace {

using namespace mrc;
using namespace mrc::lib;

constexpr std::uint32_t kBytes = 64 << 10;

[[noreturn]] void fail(const std::string& why) {
  std::printf("failed: %s\n", why.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

struct Application {
  Application(std::uint64_t ev_profile, std::uint64_t cc_profile) : memory(2 * kBytes) {
    auto configs = discover();
    if (!configs || configs->empty()) fail(configs ? "no device" : configs.error().what);
    auto opened = open_device(configs->front());
    if (!opened) fail(opened.error().what);
    device = std::move(*opened);
    const Pd pd = *device->create_pd();
    cq = *device->create_cq(64, nullptr);
    region = *device->register_memory(pd, memory.data(), memory.size(), address(0),
                                      {.local_write = true, .remote_write = true});
    QpInit init{.pd = pd, .send_cq = cq, .recv_cq = cq, .send_depth = 16, .recv_depth = 16};
    for (QueuePair*& qp : qps) qp = *device->create_qp(init);
    for (int i : {0, 1}) connect(*qps[i], *qps[1 - i], ev_profile, cc_profile);
    std::memset(memory.data(), 7, kBytes);
  }
  ~Application() {
    for (QueuePair* qp : qps) device->destroy_qp(qp);
  }
  std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory.data()) + offset;
  }

  void connect(QueuePair& qp, const QueuePair& peer, std::uint64_t ev_profile, std::uint64_t cc_profile) {
    QpAttributes a;
    a.remote_write = true;
    a.ev_profile = ev_profile;
    a.cc_profile = cc_profile;
    a.remote_gid = device->config().ports[0].address;
    a.remote_qpn = peer.qpn();
    a.path_mtu = 1024;
    using engine::QpState;
    for (const QpState next : {QpState::init, QpState::rtr, QpState::rts}) {
      if (const int error = qp.modify(next, a); error != 0) fail(std::strerror(error));
    }
  }
  /// Keeps a few writes under way; true when one ended.
  bool step() {
    while (open < 4) {
      const Sge sge{address(0), kBytes, region.lkey};
      SendRequest r;
      r.remote_va = address(kBytes);
      r.rkey = region.rkey;
      r.sges = std::span(&sge, 1);
      if (qps[0]->post_send(std::span(&r, 1)).error != 0) fail("post");
      ++open;
    }
    WorkCompletion done[4];
    const int n = cq->poll(done);
    for (int i = 0; i < n; ++i) {
      if (done[i].status != engine::WorkStatus::success) fail("a write failed");
      --open;
      ++completed;
    }
    return n > 0;
  }

  std::vector<char> memory;
  std::shared_ptr<Device> device;
  CompletionQueue* cq = nullptr;
  Region region;
  QueuePair* qps[2] = {};
  int open = 0;
  std::uint64_t completed = 0;
};

/// Somebody has said something, or nothing more will come.
bool spoken_to() {
  pollfd input{0, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Application application(argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 0,
                          argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 0);
  std::puts("ready");
  std::fflush(stdout);
  const bool busy = argc > 3;
  char line[64];
  while (busy && !spoken_to()) application.step();
  while (::read(0, line, sizeof line) > 0) {
    const std::uint64_t wanted = application.completed + 16;
    while (application.completed < wanted) application.step();
    std::printf("%llu\n", static_cast<unsigned long long>(application.completed));
    std::fflush(stdout);
    while (busy && !spoken_to()) application.step();
  }
  const bool whole = std::memcmp(application.memory.data(), application.memory.data() + kBytes, kBytes) == 0;
  std::puts(whole ? "ok" : "failed: bytes differ");
  return whole ? 0 : 1;
}
