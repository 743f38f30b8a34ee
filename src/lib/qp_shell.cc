#include "lib/qp_shell.h"

#include <algorithm>

namespace mrc::lib {
namespace {

// IPv6 40, UDP 8, BTH 12, METH 4, TSETH 4, RETH 16, immediate 4, iCRC 4.
constexpr std::uint32_t kHeaderBytes = 92;

class DeviceSurroundings final : public QpSurroundings {
 public:
  explicit DeviceSurroundings(const Device& device) : device_(device) {}
  const Limits& limits() const override { return device_.limits(); }
  int port_count() const override { return static_cast<int>(device_.config().ports.size()); }
  std::size_t gid_count(PortId port) const override { return device_.gids(port).size(); }
  ibv_mtu active_mtu(PortId port) const override { return lib::active_mtu(device_.port_status(port)); }

 private:
  const Device& device_;
};

Error check_capacity(const ibv_qp_cap& cap, const Limits& limits) {
  if (cap.max_send_wr > limits.max_send_depth || cap.max_recv_wr > limits.max_recv_depth) {
    return {EINVAL, "a QP has at most " + std::to_string(limits.max_send_depth) + " sends and " +
                        std::to_string(limits.max_recv_depth) + " receives outstanding"};
  }
  if (cap.max_send_sge > limits.max_sge || cap.max_recv_sge > limits.max_sge) {
    return {EINVAL, "a work request has at most " + std::to_string(limits.max_sge) + " segments"};
  }
  if (cap.max_inline_data > limits.max_inline) {
    return {EINVAL, "at most " + std::to_string(limits.max_inline) + " bytes can be inline"};
  }
  return {};
}

}  // namespace

ibv_mtu active_mtu(const PortStatus& status) {
  for (int mtu = IBV_MTU_4096; mtu > IBV_MTU_256; --mtu) {
    if ((128u << mtu) + kHeaderBytes + status.outer_bytes <= status.link_mtu)
      return static_cast<ibv_mtu>(mtu);
  }
  return IBV_MTU_256;
}

ibv_mtu active_mtu(const Device& device) {
  ibv_mtu least = IBV_MTU_4096;
  for (const PortConfig& port : device.config().ports)
    least = std::min(least, active_mtu(device.port_status(port.id)));
  return least;
}

QpShell::QpShell(std::shared_ptr<Device> device, AsyncQueue& async, void* handle, const QpRequest& request)
    : device_(std::move(device)),
      async_(async),
      handle_(handle),
      request_(request),
      record_(make_record(request.kind)) {}

Result<std::unique_ptr<QpShell>> QpShell::create(std::shared_ptr<Device> device, AsyncQueue& async,
                                                 void* handle, const QpRequest& request) {
  if (auto error = check_capacity(request.cap, device->limits()); error.code != 0) return error;
  std::unique_ptr<QpShell> shell(new QpShell(std::move(device), async, handle, request));
  const auto& cap = request.cap;
  const auto queue = shell->device_->create_qp({.pd = request.pd,
                                                .send_cq = request.send_cq->queue(),
                                                .recv_cq = request.recv_cq->queue(),
                                                .send_depth = cap.max_send_wr,
                                                .recv_depth = cap.max_recv_wr,
                                                .max_send_sge = cap.max_send_sge,
                                                .max_inline = cap.max_inline_data,
                                                .listener = shell.get()});
  if (!queue) return queue.error();
  shell->queue_ = *queue;
  return shell;
}

int QpShell::close() {
  if (const int error = device_->destroy_qp(queue_); error != 0) return error;
  async_.settle(handle_, async_acks_);
  return 0;
}

int QpShell::modify(const QpChange& change) {
  const std::lock_guard lock(mutex_);
  QpRecord next = record_;
  const auto state = apply(request_.kind, queue_->state(), change, DeviceSurroundings(*device_), next);
  if (!state) return state.error().code;
  if (const int error = queue_->modify(*state, to_attributes(next)); error != 0) return error;
  record_ = next;
  return 0;
}

void QpShell::note_hints(const engine::CongestionHints& hints) {
  const std::lock_guard lock(mutex_);
  record_.hints = hints;
  if (queue_->state() != engine::QpState::reset) queue_->modify(queue_->state(), to_attributes(record_));
}

QpRecord QpShell::query() const {
  const std::lock_guard lock(mutex_);
  QpRecord out = record_;
  out.verbs.qp_state = out.verbs.cur_qp_state = state();
  out.verbs.cap = request_.cap;
  return out;
}

void QpShell::on_qp_fatal(bool access) {
  async_.push({access ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_FATAL, handle_, 0, &async_acks_});
}

void QpShell::on_established() { async_.push({IBV_EVENT_COMM_EST, handle_, 0, &async_acks_}); }

}  // namespace mrc::lib
