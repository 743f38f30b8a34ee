// A context: the table of functions that the inline calls of verbs.h use.
#include <cerrno>

#include "verbs/objects.h"
#include "verbs/real_library.h"

namespace mrc::verbs {
namespace {

// Inline functions of verbs.h call these without looking whether they are there.
ibv_mw* no_alloc_mw(ibv_pd*, ibv_mw_type) { return fail<ibv_mw>(EOPNOTSUPP); }
int no_bind_mw(ibv_qp*, ibv_mw*, ibv_mw_bind*) { return EOPNOTSUPP; }
int no_dealloc_mw(ibv_mw*) { return EOPNOTSUPP; }
int no_post_srq_recv(ibv_srq*, ibv_recv_wr* wr, ibv_recv_wr** bad) {
  if (bad != nullptr) *bad = wr;
  return EOPNOTSUPP;
}

void fill_functions(verbs_context& verbs) {
  verbs.query_port = query_port;
  verbs.query_device_ex = query_device_ex;
  verbs.create_qp_ex = create_qp_ex;
  verbs.create_cq_ex = create_cq_ex;
  ibv_context_ops& ops = verbs.context.ops;
  ops.poll_cq = poll_cq;
  ops.req_notify_cq = req_notify_cq;
  ops.post_send = post_send;
  ops.post_recv = post_recv;
  ops.alloc_mw = no_alloc_mw;
  ops.bind_mw = no_bind_mw;
  ops.dealloc_mw = no_dealloc_mw;
  ops.post_srq_recv = no_post_srq_recv;
}

}  // namespace

ibv_context* make_context(ibv_device* from, std::shared_ptr<lib::Device> device) {
  auto context = std::make_shared<SoftContext>(from, std::move(device));
  if (context->async().open_error() != 0) return fail<ibv_context>(context->async().open_error());
  fill_functions(context->verbs());
  context->open();
  return context->handle();
}

}  // namespace mrc::verbs

using namespace mrc::verbs;

extern "C" {

int ibv_close_device(ibv_context* context) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) return MRC_PASS_ON(-1, ibv_close_device, context);
  ours->close();
  return 0;
}

}  // extern "C"
