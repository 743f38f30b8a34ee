// Queue pairs: RC by name, MRC on the wire.
#include <cerrno>
#include <cstring>

#include "verbs/objects.h"
#include "verbs/real_library.h"
#include "verbs/work_builder.h"

namespace mrc::verbs {
namespace {

constexpr std::uint32_t kKnownInit =
    IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;
constexpr std::uint64_t kSendOps =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ;

int check(const ibv_context* context, const ibv_qp_init_attr_ex& init) {
  if ((init.comp_mask & ~kKnownInit) != 0) return EOPNOTSUPP;
  if ((init.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && init.create_flags != 0) return EOPNOTSUPP;
  if (init.qp_type != IBV_QPT_RC || init.srq != nullptr) return EOPNOTSUPP;
  if (init.send_cq == nullptr || init.recv_cq == nullptr) return EINVAL;
  if (init.send_cq->context != context || init.recv_cq->context != context) return EINVAL;
  if (init.pd == nullptr || init.pd->context != context) return EINVAL;
  const bool builder = (init.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  return builder && (init.send_ops_flags & ~kSendOps) != 0 ? EOPNOTSUPP : 0;
}

ibv_qp* to_handle(SoftQp& qp) { return &qp.qp_base; }

void fill(SoftQp& qp, ibv_context* context, const ibv_qp_init_attr_ex& init) {
  ibv_qp& base = qp.qp_base;
  base.context = context;
  base.qp_context = init.qp_context;
  base.pd = init.pd;
  base.send_cq = init.send_cq;
  base.recv_cq = init.recv_cq;
  base.qp_num = qp.shell->qpn().value;
  base.handle = base.qp_num;
  base.state = IBV_QPS_RESET;
  base.qp_type = init.qp_type;
}

}  // namespace

SoftQp::~SoftQp() = default;

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* init) {
  if (const int error = check(context, *init); error != 0) return fail<ibv_qp>(error);
  SoftContext* ours = soft_context(context);
  auto qp = std::make_unique<SoftQp>();
  auto shell = lib::QpShell::create(ours->device(), ours->async(), to_handle(*qp),
                                    {.kind = lib::QpKind::rc,
                                     .pd = soft_pd(init->pd)->id,
                                     .send_cq = soft(init->send_cq)->shell.get(),
                                     .recv_cq = soft(init->recv_cq)->shell.get(),
                                     .cap = init->cap,
                                     .signal_all = init->sq_sig_all != 0});
  if (!shell) return fail<ibv_qp>(shell.error().code);
  qp->shell = *std::move(shell);
  fill(*qp, context, *init);
  if ((init->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0)
    qp->builder = std::make_unique<WorkBuilder>(*qp);
  return to_handle(*qp.release());
}

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad) { return soft(qp)->shell->post_send(wr, bad); }
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  return soft(qp)->shell->post_receive(wr, bad);
}

}  // namespace mrc::verbs

using namespace mrc;
using namespace mrc::verbs;

extern "C" {

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  if (soft_pd(pd) == nullptr) return MRC_PASS_ON(nullptr, ibv_create_qp, pd, init);
  ibv_qp_init_attr_ex extended{};
  std::memcpy(&extended, init, sizeof *init);  // the one begins with the other
  extended.comp_mask = IBV_QP_INIT_ATTR_PD;
  extended.pd = pd;
  return create_qp_ex(pd->context, &extended);
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask) {
  if (!is_ours(qp)) return MRC_PASS_ON(ENODEV, ibv_modify_qp, qp, attr, mask);
  if (const int error = soft(qp)->shell->modify({.verbs = attr, .verbs_mask = mask}); error != 0)
    return error;
  qp->state = soft(qp)->shell->state();
  return 0;
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int mask, ibv_qp_init_attr* init) {
  if (!is_ours(qp)) return MRC_PASS_ON(ENODEV, ibv_query_qp, qp, attr, mask, init);
  const auto& shell = *soft(qp)->shell;
  *attr = shell.query().verbs;
  qp->state = attr->qp_state;
  *init = {};
  init->qp_context = qp->qp_context;
  init->send_cq = qp->send_cq;
  init->recv_cq = qp->recv_cq;
  init->cap = shell.request().cap;
  init->qp_type = qp->qp_type;
  init->sq_sig_all = shell.request().signal_all ? 1 : 0;
  return 0;
}

int ibv_destroy_qp(ibv_qp* qp) {
  if (!is_ours(qp)) return MRC_PASS_ON(ENODEV, ibv_destroy_qp, qp);
  if (const int error = soft(qp)->shell->close(); error != 0) return error;
  delete soft(qp);
  return 0;
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  if (!is_ours(qp)) return MRC_PASS_ON(nullptr, ibv_qp_to_qp_ex, qp);
  return soft(qp)->builder != nullptr ? soft(qp) : nullptr;
}

int ibv_query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t flags) {
  if (!is_ours(qp)) return MRC_PASS_ON(0, ibv_query_qp_data_in_order, qp, opcode, flags);
  return 0;  // packets are placed as they arrive, over many paths
}

int ibv_set_ece(ibv_qp* qp, ibv_ece* ece) {
  if (!is_ours(qp)) return MRC_PASS_ON(ENODEV, ibv_set_ece, qp, ece);
  return ece->vendor_id == 0 && ece->options == 0 ? 0 : EOPNOTSUPP;
}

int ibv_query_ece(ibv_qp* qp, ibv_ece* ece) {
  if (!is_ours(qp)) return MRC_PASS_ON(ENODEV, ibv_query_ece, qp, ece);
  *ece = {};
  return EOPNOTSUPP;
}

}  // extern "C"
