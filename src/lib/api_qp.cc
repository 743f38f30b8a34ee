// mrc.h: queue pairs, work requests and asynchronous events.
#include <cerrno>

#include "lib/api_objects.h"

using namespace mrc::lib;

namespace {

constexpr std::uint64_t kSendOps = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;

bool is_completion_cq(const mrc_cq* cq, const mrc_context* context) {
  return cq != nullptr && cq->context == context && cq->completions != nullptr;
}

int check(const mrc_context* context, const mrc_qp_init_attr& init) {
  if (!is_completion_cq(init.send_cq, context) || !is_completion_cq(init.recv_cq, context)) return EINVAL;
  const SoftPd* pd = soft_pd(init.pd);
  if (pd == nullptr || pd->device != context->device) return EINVAL;
  if (init.protocol_version != MRC_PROTOCOL_VERSION_0 && init.protocol_version != MRC_PROTOCOL_VERSION_1) {
    return EINVAL;
  }
  return (init.send_ops_flags & ~kSendOps) != 0 ? EOPNOTSUPP : 0;
}

void use(mrc_qp_hint& hint, mrc_qp& qp) {
  const std::lock_guard lock(hint.mutex);
  hint.users.insert(&qp);
}

void leave(mrc_qp_hint& hint, mrc_qp& qp) {
  const std::lock_guard lock(hint.mutex);
  hint.users.erase(&qp);
}

/// A hint is held by the QPs that name it.
void follow_hint(mrc_qp& qp) {
  mrc_qp_hint* now = qp.shell->query().mrc.qp_hint;
  if (now == qp.hint) return;
  if (now != nullptr) use(*now, qp);
  if (qp.hint != nullptr) leave(*qp.hint, qp);
  qp.hint = now;
}

void fill(const mrc_qp& qp, mrc_qp_init_attr& out) {
  out = {};
  out.qp_context = qp.qp_context;
  out.send_cq = qp.send_cq;
  out.recv_cq = qp.recv_cq;
  out.cap = qp.shell->request().cap;
  out.sq_sig_all = qp.shell->request().signal_all ? 1 : 0;
  out.pd = qp.pd;
  out.send_ops_flags = qp.send_ops_flags;
  out.protocol_version = qp.protocol_version;
}

}  // namespace

extern "C" {

mrc_qp* mrc_create_qp(mrc_context* context, mrc_qp_init_attr* init) {
  if (context == nullptr || init == nullptr) return fail_null<mrc_qp>(EINVAL);
  if (const int error = check(context, *init); error != 0) return fail_null<mrc_qp>(error);
  auto qp = std::make_unique<mrc_qp>();
  auto shell = QpShell::create(context->device, context->async, qp.get(),
                               {.kind = QpKind::mrc,
                                .pd = soft_pd(init->pd)->id,
                                .send_cq = init->send_cq->completions.get(),
                                .recv_cq = init->recv_cq->completions.get(),
                                .cap = init->cap,
                                .signal_all = init->sq_sig_all != 0});
  if (!shell) return fail_null<mrc_qp>(shell.error().code);
  qp->context = context;
  qp->qp_context = init->qp_context;
  qp->send_cq = init->send_cq;
  qp->recv_cq = init->recv_cq;
  qp->pd = init->pd;
  qp->send_ops_flags = init->send_ops_flags;
  qp->protocol_version = init->protocol_version;
  qp->shell = *std::move(shell);
  ++context->objects;
  return qp.release();
}

int mrc_destroy_qp(mrc_qp* qp) {
  if (qp == nullptr) return EINVAL;
  if (qp->hint != nullptr)
    leave(*qp->hint, *qp);  // first: whoever changes the hint must not find a QP that is gone
  if (const int error = qp->shell->close(); error != 0) {
    if (qp->hint != nullptr) use(*qp->hint, *qp);
    return error;
  }
  --qp->context->objects;
  delete qp;
  return 0;
}

int mrc_query_qp(mrc_qp* qp, ibv_qp_attr* vattr, int vattr_mask, mrc_qp_attr* attr, int attr_mask,
                 mrc_qp_init_attr* init) {
  if (qp == nullptr || (vattr_mask != 0 && vattr == nullptr) || (attr_mask != 0 && attr == nullptr))
    return EINVAL;
  const QpRecord record = qp->shell->query();
  if (vattr != nullptr) *vattr = record.verbs;
  if (attr != nullptr) *attr = record.mrc;
  if (init != nullptr) fill(*qp, *init);
  return 0;
}

int mrc_modify_qp(mrc_qp* qp, ibv_qp_attr* vattr, int vattr_mask, mrc_qp_attr* attr, int attr_mask) {
  if (qp == nullptr) return EINVAL;
  if ((attr_mask & MRC_QP_HINT) != 0 && attr != nullptr && attr->qp_hint != nullptr &&
      attr->qp_hint->context != qp->context) {
    return EINVAL;
  }
  QpChange change{.verbs = vattr, .verbs_mask = vattr_mask, .mrc = attr, .mrc_mask = attr_mask, .hints = {}};
  if ((attr_mask & MRC_QP_HINT) != 0 && attr != nullptr && attr->qp_hint != nullptr)
    change.hints = hints_of(*attr->qp_hint);
  if (const int error = qp->shell->modify(change); error != 0) return error;
  follow_hint(*qp);
  return 0;
}

int mrc_get_qpn(mrc_qp* qp, uint32_t* qpn) {
  if (qp == nullptr || qpn == nullptr) return fail(EINVAL);
  *qpn = qp->shell->qpn().value;
  return 0;
}

int mrc_post_send(mrc_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  return qp != nullptr ? qp->shell->post_send(wr, bad_wr) : EINVAL;
}

int mrc_post_recv(mrc_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return qp != nullptr ? qp->shell->post_receive(wr, bad_wr) : EINVAL;
}

int mrc_get_async_event(mrc_context* context, mrc_async_event* event) {
  if (context == nullptr || event == nullptr) return EINVAL;
  AsyncEvent taken;
  if (const int error = context->async.take(taken); error != 0) return error;
  event->event_type = taken.type;
  if (taken.type == IBV_EVENT_CQ_ERR) {
    event->element.cq = static_cast<mrc_cq*>(taken.element);
  } else if (taken.element != nullptr) {
    event->element.qp = static_cast<mrc_qp*>(taken.element);
  } else {
    event->element.port_num = taken.port;
  }
  return 0;
}

void mrc_ack_async_event(mrc_async_event* event) {
  if (event == nullptr) return;
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: event->element.cq->completions->async_acks().acknowledge(1); break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST: event->element.qp->shell->async_acks().acknowledge(1); break;
    default: break;  // a port's: nothing is held
  }
}

}  // extern "C"
