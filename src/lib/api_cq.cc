// mrc.h: completion channels and completion queues.
#include <cerrno>

#include "lib/api_objects.h"

using namespace mrc::lib;

extern "C" {

int mrc_create_comp_channel(mrc_context* context, mrc_comp_channel** channel) {
  if (context == nullptr || channel == nullptr) return EINVAL;
  auto made = std::make_unique<mrc_comp_channel>();
  if (made->channel.events.open_error() != 0) return made->channel.events.open_error();
  made->context = context;
  ++context->objects;
  *channel = made.release();
  return 0;
}

int mrc_get_comp_channel_fd(mrc_comp_channel* channel, int* fd) {
  if (channel == nullptr || fd == nullptr) return fail(EINVAL);
  *fd = channel->channel.events.fd();
  return 0;
}

int mrc_destroy_comp_channel(mrc_comp_channel* channel) {
  if (channel == nullptr) return EINVAL;
  if (channel->channel.users > 0) return EBUSY;
  --channel->context->objects;
  delete channel;
  return 0;
}

mrc_cq* mrc_create_cq(mrc_context* context, int cqe, void* cq_context, mrc_comp_channel* channel,
                      int vector) {
  if (context == nullptr || vector != 0) return fail_null<mrc_cq>(EINVAL);
  if (channel != nullptr && channel->context != context) return fail_null<mrc_cq>(EINVAL);
  auto cq = std::make_unique<mrc_cq>();
  auto shell = CqShell::create(context->device, context->async, cqe, cq.get(), cq_context,
                               channel != nullptr ? &channel->channel : nullptr);
  if (!shell) return fail_null<mrc_cq>(shell.error().code);
  cq->context = context;
  cq->completions = *std::move(shell);
  ++context->objects;
  return cq.release();
}

int mrc_poll_cq(mrc_cq* cq, int num_entries, ibv_wc* wc) {
  if (cq == nullptr || cq->completions == nullptr || num_entries < 0 || (wc == nullptr && num_entries > 0)) {
    return fail(EINVAL);
  }
  return cq->completions->poll(num_entries, wc);
}

int mrc_destroy_cq(mrc_cq* cq) {
  if (cq == nullptr) return EINVAL;
  if (cq->completions != nullptr) {
    if (const int error = cq->completions->close(); error != 0) return error;
  }
  --cq->context->objects;
  delete cq;
  return 0;
}

int mrc_req_notify_cq(mrc_cq* cq, int solicited_only) {
  if (cq == nullptr) return EINVAL;
  if (cq->completions != nullptr) {
    cq->completions->arm(solicited_only != 0);
  } else {
    cq->ev_events->arm();
  }
  return 0;
}

int mrc_get_cq_event(mrc_comp_channel* channel, mrc_cq** cq, void** cq_context) {
  if (channel == nullptr || cq == nullptr) return fail(EINVAL);
  ChannelMember* member = nullptr;
  if (const int error = take_cq_event(channel->channel, member); error != 0) return fail(error);
  *cq = static_cast<mrc_cq*>(member->handle());
  if (cq_context != nullptr) *cq_context = member->context();
  return 0;
}

void mrc_ack_cq_events(mrc_cq* cq, unsigned int count) {
  if (cq == nullptr) return;
  auto& acks =
      cq->completions != nullptr ? cq->completions->completion_acks() : cq->ev_events->member().acks();
  acks.acknowledge(count);
}

}  // extern "C"
