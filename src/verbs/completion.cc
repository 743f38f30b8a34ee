// Completion channels and completion queues.
#include <cerrno>

#include "verbs/objects.h"
#include "verbs/real_library.h"

namespace mrc::verbs {

int poll_cq(ibv_cq* cq, int count, ibv_wc* wc) { return soft(cq)->shell->poll(count, wc); }

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  soft(cq)->shell->arm(solicited_only != 0);
  return 0;
}

SoftCq* make_cq(SoftContext& ours, int cqe, void* cq_context, ibv_comp_channel* channel, int vector) {
  ibv_context* context = ours.handle();
  if (vector < 0 || vector >= context->num_comp_vectors) return fail<SoftCq>(EINVAL);
  if (channel != nullptr && channel->context != context) return fail<SoftCq>(EINVAL);
  auto cq = std::make_unique<SoftCq>();
  auto shell = lib::CqShell::create(ours.device(), ours.async(), cqe, cq->plain(), cq_context,
                                    channel != nullptr ? &soft(channel)->channel : nullptr);
  if (!shell) return fail<SoftCq>(shell.error().code);
  cq->context = context;
  cq->channel = channel;
  cq->cq_context = cq_context;
  cq->cqe = static_cast<int>((*shell)->queue()->depth());
  cq->owner = ours.shared_from_this();
  cq->shell = *std::move(shell);
  return cq.release();
}

}  // namespace mrc::verbs

using namespace mrc;
using namespace mrc::verbs;

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) return MRC_PASS_ON(nullptr, ibv_create_comp_channel, context);
  auto channel = std::make_unique<SoftChannel>();
  if (channel->channel.events.open_error() != 0)
    return fail<ibv_comp_channel>(channel->channel.events.open_error());
  channel->context = context;
  channel->owner = ours->shared_from_this();
  channel->fd = channel->channel.events.fd();
  channel->refcnt = 0;
  return channel.release();
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  if (!is_ours(channel)) return MRC_PASS_ON(ENODEV, ibv_destroy_comp_channel, channel);
  if (soft(channel)->channel.users > 0) return EBUSY;
  delete soft(channel);
  return 0;
}

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int vector) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) return MRC_PASS_ON(nullptr, ibv_create_cq, context, cqe, cq_context, channel, vector);
  SoftCq* cq = make_cq(*ours, cqe, cq_context, channel, vector);
  return cq != nullptr ? cq->plain() : nullptr;
}

int ibv_resize_cq(ibv_cq* cq, int cqe) {
  if (!is_ours(cq)) return MRC_PASS_ON(ENODEV, ibv_resize_cq, cq, cqe);
  if (const int error = soft(cq)->shell->resize(cqe); error != 0) return error;
  cq->cqe = static_cast<int>(soft(cq)->shell->queue()->depth());
  return 0;
}

int ibv_destroy_cq(ibv_cq* cq) {
  if (!is_ours(cq)) return MRC_PASS_ON(ENODEV, ibv_destroy_cq, cq);
  if (const int error = soft(cq)->shell->close(); error != 0) return error;
  delete soft(cq);
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  if (!is_ours(channel)) return MRC_PASS_ON(-1, ibv_get_cq_event, channel, cq, cq_context);
  lib::ChannelMember* member = nullptr;
  if (const int error = lib::take_cq_event(soft(channel)->channel, member); error != 0) {
    errno = error;
    return -1;
  }
  *cq = static_cast<ibv_cq*>(member->handle());
  *cq_context = member->context();
  return 0;
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned int count) {
  if (!is_ours(cq)) return MRC_PASS_ON(void(), ibv_ack_cq_events, cq, count);
  soft(cq)->shell->completion_acks().acknowledge(count);
}

}  // extern "C"
