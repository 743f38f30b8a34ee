#include "lib/nic_cq.h"

#include <algorithm>
#include <cerrno>

#include "lib/nic_device.h"
#include "lib/nic_qp.h"

namespace mrc::lib {
namespace {

WorkCompletion to_completion(const nic::Cqe& c) {
  const bool receive = c.kind == engine::CompletionKind::receive;
  const CompletionOp op = receive ? CompletionOp::receive_imm
                                  : (c.tag == NicQp::kReadTag ? CompletionOp::read : CompletionOp::write);
  return {c.wr_id, c.qpn, op, c.status, c.length, c.imm};
}

}  // namespace

NicCq::~NicCq() {
  if (armed_) device_.progress().remove_waiter();
}

std::size_t NicCq::take(std::span<WorkCompletion> out) {
  if (ring_.empty()) return 0;
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kAtOnce = 16;
  nic::Cqe entries[kAtOnce];
  std::size_t n = 0;
  while (n < out.size()) {
    const std::size_t taken = ring_.poll(std::span(entries, std::min(kAtOnce, out.size() - n)));
    for (std::size_t i = 0; i < taken; ++i) {
      if (entries[i].kind == engine::CompletionKind::send)
        static_cast<NicQp*>(entries[i].owner)->note_polled();
      out[n + i] = to_completion(entries[i]);
    }
    n += taken;
    if (taken < kAtOnce) break;
  }
  return n;
}

int NicCq::poll(std::span<WorkCompletion> out) {
  std::size_t n = take(out);
  if (n == 0) {
    device_.step();
    n = take(out);
  } else {
    device_.note_busy_poll();
  }
  return n == 0 && ring_.overrun() ? -1 : static_cast<int>(n);
}

void NicCq::arm(bool solicited_only) {
  if (!armed_.exchange(true)) device_.progress().add_waiter();
  ring_.arm(solicited_only);
}

void NicCq::note_notified() {
  if (armed_.exchange(false)) device_.progress().remove_waiter();
}

int NicCq::resize(std::uint32_t depth) {
  const NicDevice::Hold hold(device_);
  const std::lock_guard lock(mutex_);
  return ring_.resize(depth) ? 0 : EINVAL;
}

}  // namespace mrc::lib
