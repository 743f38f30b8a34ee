#include "lib/cq_shell.h"

#include <arpa/inet.h>

#include <cerrno>
#include <cstddef>

namespace mrc::lib {
namespace {

using engine::WorkStatus;

ibv_wc_status to_wc_status(WorkStatus status) {
  switch (status) {
    case WorkStatus::success: return IBV_WC_SUCCESS;
    case WorkStatus::flushed: return IBV_WC_WR_FLUSH_ERR;
    case WorkStatus::retry_exceeded: return IBV_WC_RETRY_EXC_ERR;
    case WorkStatus::remote_access_error: return IBV_WC_REM_ACCESS_ERR;
    case WorkStatus::remote_invalid_request: return IBV_WC_REM_INV_REQ_ERR;
    case WorkStatus::remote_operation_error: return IBV_WC_REM_OP_ERR;
    case WorkStatus::local_protection_error: return IBV_WC_LOC_PROT_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

ibv_wc_opcode to_wc_opcode(CompletionOp op) {
  switch (op) {
    case CompletionOp::write: return IBV_WC_RDMA_WRITE;
    case CompletionOp::read: return IBV_WC_RDMA_READ;
    case CompletionOp::receive_imm: return IBV_WC_RECV_RDMA_WITH_IMM;
  }
  return IBV_WC_RDMA_WRITE;
}

}  // namespace

void to_wc(const WorkCompletion& from, ibv_wc& to) {
  to.wr_id = from.wr_id;
  to.status = to_wc_status(from.status);
  to.opcode = to_wc_opcode(from.op);
  to.vendor_err = static_cast<std::uint32_t>(from.status);
  to.byte_len = from.length;
  to.qp_num = from.qpn.value;
  to.src_qp = 0;
  to.pkey_index = 0;
  to.slid = 0;
  to.sl = 0;
  to.dlid_path_bits = 0;
  const bool imm = from.op == CompletionOp::receive_imm && from.status == WorkStatus::success;
  to.wc_flags = imm ? IBV_WC_WITH_IMM : 0;
  to.imm_data = imm ? htonl(from.imm) : 0;
}

Result<std::unique_ptr<CqShell>> CqShell::create(std::shared_ptr<Device> device, AsyncQueue& async, int depth,
                                                 void* handle, void* context, Channel* channel) {
  if (depth < 1 || static_cast<std::uint32_t>(depth) > device->limits().max_cqe) {
    return Error{EINVAL, "a CQ has 1 .. " + std::to_string(device->limits().max_cqe) + " entries"};
  }
  std::unique_ptr<CqShell> shell(new CqShell(std::move(device), async, handle, context, channel));
  const auto queue = shell->device_->create_cq(static_cast<std::uint32_t>(depth), shell.get());
  if (!queue) return queue.error();
  shell->queue_ = *queue;
  return shell;
}

int CqShell::close() {
  if (const int error = device_->destroy_cq(queue_); error != 0) return error;
  events_.settle();
  async_.settle(events_.handle(), async_acks_);
  return 0;
}

int CqShell::poll(int count, ibv_wc* wc) {
  constexpr int kBatch = 16;
  // Not initialised: an application polls far more often than there is something.
  alignas(WorkCompletion) std::byte room[kBatch * sizeof(WorkCompletion)];
  auto* batch = reinterpret_cast<WorkCompletion*>(room);
  int done = 0;
  while (done < count) {
    const int wanted = count - done < kBatch ? count - done : kBatch;
    const int got = queue_->poll(std::span(batch, static_cast<std::size_t>(wanted)));
    if (got < 0 && done == 0) errno = EOVERFLOW;
    if (got < 0) return done > 0 ? done : -1;
    for (int i = 0; i < got; ++i) to_wc(batch[i], wc[done + i]);
    done += got;
    if (got < wanted) break;
  }
  return done;
}

int CqShell::resize(int depth) {
  if (depth < 1 || static_cast<std::uint32_t>(depth) > device_->limits().max_cqe) return EINVAL;
  return queue_->resize(static_cast<std::uint32_t>(depth));
}

// A CQ overrun is never silent: the program hears of it as an asynchronous event, and polling says -1.
void CqShell::on_cq_overrun() { async_.push({IBV_EVENT_CQ_ERR, events_.handle(), 0, &async_acks_}); }

}  // namespace mrc::lib
