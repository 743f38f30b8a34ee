// Work requests: from the program's linked list to the device, in batches that cost one lock each.
#include <arpa/inet.h>

#include <array>
#include <cerrno>

#include "lib/qp_shell.h"

namespace mrc::lib {
namespace {

constexpr std::size_t kBatch = 16;
constexpr std::size_t kSges = 64;
constexpr unsigned kKnownFlags = IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

/// 0, EOPNOTSUPP for what verbs have and MRC has not, EINVAL for what nobody has.
int to_op(ibv_wr_opcode opcode, QpKind kind, SendOp& op) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE: op = SendOp::write; return 0;
    case IBV_WR_RDMA_WRITE_WITH_IMM: op = SendOp::write_imm; return 0;
    case IBV_WR_RDMA_READ:
      // MRC-API-022: plain verbs QPs may read from this same device: that is how programs flush local writes.
      op = SendOp::read;
      return kind == QpKind::rc ? 0 : EOPNOTSUPP;
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_LOCAL_INV:
    case IBV_WR_BIND_MW:
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_TSO:
    case IBV_WR_DRIVER1:
    case IBV_WR_ATOMIC_WRITE: return EOPNOTSUPP;
  }
  return EINVAL;
}

/// Requests on their way to the device, and the segments that they point to.
class Batch {
 public:
  bool has_room(int sges) const { return count_ < kBatch && used_ + static_cast<std::size_t>(sges) <= kSges; }
  bool empty() const { return count_ == 0; }

  void add(const SendRequest& request, ibv_send_wr* wr) {
    Sge* first = sges_.data() + used_;
    for (int i = 0; i < wr->num_sge; ++i) {
      const auto& from = wr->sg_list[i];
      sges_[used_++] = {from.addr, from.length, from.lkey};
    }
    requests_[count_] = request;
    requests_[count_].sges = std::span<const Sge>(first, static_cast<std::size_t>(wr->num_sge));
    from_[count_++] = wr;
  }

  /// 0, or an errno and the request that was not taken.
  int post(QueuePair& queue, ibv_send_wr** bad) {
    const auto posted = queue.post_send(std::span(requests_.data(), count_));
    if (posted.error != 0) *bad = from_[posted.count];
    count_ = used_ = 0;
    return posted.error;
  }

 private:
  std::array<SendRequest, kBatch> requests_;
  std::array<ibv_send_wr*, kBatch> from_;
  std::array<Sge, kSges> sges_;
  std::size_t count_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

int QpShell::to_request(const ibv_send_wr& wr, SendRequest& out) const {
  if (const int error = to_op(wr.opcode, request_.kind, out.op); error != 0) return error;
  const auto& cap = request_.cap;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > std::max(cap.max_send_sge, 1u))
    return EINVAL;
  if (wr.num_sge > 0 && wr.sg_list == nullptr) return EINVAL;
  if ((wr.send_flags & ~kKnownFlags) != 0) return EINVAL;
  std::uint64_t length = 0;
  for (int i = 0; i < wr.num_sge; ++i) length += wr.sg_list[i].length;
  out.inline_data = (wr.send_flags & IBV_SEND_INLINE) != 0;
  if (length > UINT32_MAX || (out.inline_data && length > cap.max_inline_data)) return EINVAL;
  if (out.inline_data && out.op == SendOp::read) return EINVAL;
  out.wr_id = wr.wr_id;
  out.remote_va = wr.wr.rdma.remote_addr;
  out.rkey = wr.wr.rdma.rkey;
  out.imm = out.op == SendOp::write_imm ? ntohl(wr.imm_data) : 0;
  out.signaled = request_.signal_all || (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  out.solicited = (wr.send_flags & IBV_SEND_SOLICITED) != 0;
  out.fence = (wr.send_flags & IBV_SEND_FENCE) != 0;
  return 0;
}

int QpShell::post_one(ibv_send_wr* wr, ibv_send_wr** bad) {
  *bad = wr;
  SendRequest request;
  if (const int refused = to_request(*wr, request); refused != 0) return refused;
  std::array<Sge, kSges> sges;
  for (int i = 0; i < wr->num_sge; ++i) {
    sges[static_cast<std::size_t>(i)] = {wr->sg_list[i].addr, wr->sg_list[i].length, wr->sg_list[i].lkey};
  }
  request.sges = std::span<const Sge>(sges.data(), static_cast<std::size_t>(wr->num_sge));
  return queue_->post_send(std::span(&request, 1)).error;
}

int QpShell::post_send(ibv_send_wr* wr, ibv_send_wr** bad) {
  ibv_send_wr* ignored;
  if (bad == nullptr) bad = &ignored;
  if (wr != nullptr && wr->next == nullptr)
    return post_one(wr, bad);  // the common case, without a batch to set up
  Batch batch;
  for (; wr != nullptr; wr = wr->next) {
    SendRequest request;
    const int refused = to_request(*wr, request);
    if (!batch.empty() && (refused != 0 || !batch.has_room(wr->num_sge))) {
      if (const int error = batch.post(*queue_, bad); error != 0) return error;
    }
    if (refused != 0) {
      *bad = wr;
      return refused;
    }
    batch.add(request, wr);
  }
  return batch.empty() ? 0 : batch.post(*queue_, bad);
}

int QpShell::check_receive(const ibv_recv_wr& wr) const {
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > std::max(request_.cap.max_recv_sge, 1u)) {
    return EINVAL;
  }
  return wr.num_sge > 0 && wr.sg_list == nullptr ? EINVAL : 0;
}

int QpShell::post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad) {
  std::array<std::uint64_t, kBatch> ids;
  std::array<ibv_recv_wr*, kBatch> from;
  ibv_recv_wr* ignored;
  if (bad == nullptr) bad = &ignored;
  while (wr != nullptr) {
    std::size_t count = 0;
    int refused = 0;
    for (; wr != nullptr && count < kBatch && (refused = check_receive(*wr)) == 0; wr = wr->next) {
      ids[count] = wr->wr_id;
      from[count++] = wr;
    }
    const auto posted = queue_->post_receive(std::span(ids.data(), count));
    if (posted.error != 0) *bad = from[posted.count];
    if (posted.error == 0 && refused != 0) *bad = wr;
    if (posted.error != 0 || refused != 0) return posted.error != 0 ? posted.error : refused;
  }
  return 0;
}

}  // namespace mrc::lib
