#include "verbs/work_builder.h"

#include <cerrno>

#include "verbs/objects.h"

namespace mrc::verbs {

WorkBuilder::WorkBuilder(SoftQp& qp) : qp_(qp) {
  qp.wr_start = wr_start;
  qp.wr_complete = wr_complete;
  qp.wr_abort = wr_abort;
  qp.wr_rdma_write = wr_rdma_write;
  qp.wr_rdma_write_imm = wr_rdma_write_imm;
  qp.wr_rdma_read = wr_rdma_read;
  qp.wr_set_sge = wr_set_sge;
  qp.wr_set_sge_list = wr_set_sge_list;
  qp.wr_set_inline_data = wr_set_inline_data;
  qp.wr_set_inline_data_list = wr_set_inline_data_list;
}

WorkBuilder& WorkBuilder::of(ibv_qp_ex* qp) { return *static_cast<SoftQp*>(qp)->builder; }

ibv_send_wr& WorkBuilder::add(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote_va) {
  ibv_send_wr& wr = requests_.emplace_back();
  wr = {};
  wr.wr_id = qp_.wr_id;
  wr.send_flags = qp_.wr_flags;
  wr.opcode = opcode;
  wr.wr.rdma.rkey = rkey;
  wr.wr.rdma.remote_addr = remote_va;
  first_sge_.push_back(sges_.size());
  return wr;
}

void WorkBuilder::wr_start(ibv_qp_ex* qp) {
  of(qp).mutex_.lock();
  of(qp).clear();
}

void WorkBuilder::wr_rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_va) {
  of(qp).add(IBV_WR_RDMA_WRITE, rkey, remote_va);
}

void WorkBuilder::wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_va, __be32 imm) {
  of(qp).add(IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_va).imm_data = imm;
}

void WorkBuilder::wr_rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_va) {
  of(qp).add(IBV_WR_RDMA_READ, rkey, remote_va);
}

void WorkBuilder::wr_set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length) {
  const ibv_sge one{address, length, lkey};
  wr_set_sge_list(qp, 1, &one);
}

void WorkBuilder::wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list) {
  WorkBuilder& builder = of(qp);
  if (builder.requests_.empty()) {
    builder.error_ = EINVAL;
    return;
  }
  builder.sges_.insert(builder.sges_.end(), list, list + count);
  builder.requests_.back().num_sge += static_cast<int>(count);
}

void WorkBuilder::add_inline(const void* data, std::size_t length) {
  if (requests_.empty() || length > qp_.shell->request().cap.max_inline_data) {
    error_ = EINVAL;
    return;
  }
  const auto* bytes = static_cast<const char*>(data);
  const auto& copy = inline_.emplace_back(bytes, bytes + length);
  sges_.push_back({reinterpret_cast<std::uintptr_t>(copy.data()), static_cast<std::uint32_t>(length), 0});
  ibv_send_wr& wr = requests_.back();
  wr.num_sge = 1;
  wr.send_flags |= IBV_SEND_INLINE;
}

void WorkBuilder::wr_set_inline_data(ibv_qp_ex* qp, void* data, std::size_t length) {
  of(qp).add_inline(data, length);
}

void WorkBuilder::wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list) {
  std::vector<char> all;
  for (std::size_t i = 0; i < count; ++i) {
    const auto* bytes = static_cast<const char*>(list[i].addr);
    all.insert(all.end(), bytes, bytes + list[i].length);
  }
  of(qp).add_inline(all.data(), all.size());
}

int WorkBuilder::post_all() {
  if (error_ != 0 || requests_.empty()) return error_;
  if (requests_.size() > qp_.shell->send_room()) return ENOMEM;  // all or none
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    requests_[i].sg_list = requests_[i].num_sge > 0 ? &sges_[first_sge_[i]] : nullptr;
    requests_[i].next = i + 1 < requests_.size() ? &requests_[i + 1] : nullptr;
  }
  ibv_send_wr* bad;
  return qp_.shell->post_send(requests_.data(), &bad);
}

int WorkBuilder::wr_complete(ibv_qp_ex* qp) {
  WorkBuilder& builder = of(qp);
  const int error = builder.post_all();
  builder.mutex_.unlock();
  return error;
}

void WorkBuilder::wr_abort(ibv_qp_ex* qp) { of(qp).mutex_.unlock(); }

void WorkBuilder::clear() {
  requests_.clear();
  first_sge_.clear();
  sges_.clear();
  inline_.clear();
  error_ = 0;
}

}  // namespace mrc::verbs
