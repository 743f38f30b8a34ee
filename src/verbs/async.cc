// Asynchronous events of a context.
#include <cerrno>

#include "verbs/objects.h"
#include "verbs/real_library.h"

using namespace mrc;
using namespace mrc::verbs;

namespace {

enum class About { cq, qp, port, other };

About about(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_CQ_ERR: return About::cq;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: return About::qp;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_GID_CHANGE: return About::port;
    default: return About::other;  // never of a soft device
  }
}

}  // namespace

extern "C" {

int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) return MRC_PASS_ON(-1, ibv_get_async_event, context, event);
  lib::AsyncEvent taken;
  if (const int error = ours->async().take(taken); error != 0) {
    errno = error;
    return -1;
  }
  event->event_type = taken.type;
  switch (about(taken.type)) {
    case About::cq: event->element.cq = static_cast<ibv_cq*>(taken.element); break;
    case About::qp: event->element.qp = static_cast<ibv_qp*>(taken.element); break;
    case About::port:
    case About::other: event->element.port_num = taken.port; break;
  }
  return 0;
}

void ibv_ack_async_event(ibv_async_event* event) {
  switch (about(event->event_type)) {
    case About::cq:
      if (!is_ours(event->element.cq)) break;
      return soft(event->element.cq)->shell->async_acks().acknowledge(1);
    case About::qp:
      if (!is_ours(event->element.qp)) break;
      return soft(event->element.qp)->shell->async_acks().acknowledge(1);
    case About::port: return;  // nothing is held for a port
    case About::other: break;
  }
  MRC_PASS_ON(void(), ibv_ack_async_event, event);
}

}  // extern "C"
