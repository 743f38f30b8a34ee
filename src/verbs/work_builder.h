// The ibv_wr_* calls: work requests built field by field, posted together by wr_complete.
#pragma once

#include <infiniband/verbs.h>

#include <deque>
#include <mutex>
#include <vector>

namespace mrc::verbs {

struct SoftQp;

class WorkBuilder {
 public:
  explicit WorkBuilder(SoftQp& qp);

 private:
  static WorkBuilder& of(ibv_qp_ex* qp);
  ibv_send_wr& add(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote_va);
  void add_inline(const void* data, std::size_t length);
  int post_all();
  void clear();

  static void wr_start(ibv_qp_ex* qp);
  static int wr_complete(ibv_qp_ex* qp);
  static void wr_abort(ibv_qp_ex* qp);
  static void wr_rdma_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_va);
  static void wr_rdma_write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_va, __be32 imm);
  static void wr_rdma_read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t remote_va);
  static void wr_set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t address, std::uint32_t length);
  static void wr_set_sge_list(ibv_qp_ex* qp, std::size_t count, const ibv_sge* list);
  static void wr_set_inline_data(ibv_qp_ex* qp, void* data, std::size_t length);
  static void wr_set_inline_data_list(ibv_qp_ex* qp, std::size_t count, const ibv_data_buf* list);

  SoftQp& qp_;
  std::mutex mutex_;                    // held from wr_start to wr_complete or wr_abort
  std::vector<ibv_send_wr> requests_;   // sg_list and next are set by post_all, when nothing moves any more
  std::vector<std::size_t> first_sge_;  // per request
  std::vector<ibv_sge> sges_;
  std::deque<std::vector<char>> inline_;  // copies: the program may reuse its buffer at once
  int error_ = 0;
};

}  // namespace mrc::verbs
