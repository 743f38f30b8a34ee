// mrc.h: hints about the queue pairs that a program is going to make.
#include <cerrno>
#include <cstring>

#include "lib/api_objects.h"

using namespace mrc::lib;

namespace {

constexpr int kKnown = MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS |
                       MRC_QP_HINT_NUM_REMOTE_RECV_PEERS | MRC_QP_HINT_VENDOR_CFG;

bool sensible(const mrc_qp_hint_attr& attr, int mask) {
  return !((mask & MRC_QP_HINT_NUM_QPS_PER_PEER) != 0 && attr.num_qps_per_peer < 0) &&
         !((mask & MRC_QP_HINT_NUM_SEND_PEERS) != 0 && attr.num_send_peers < 0) &&
         !((mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS) != 0 && attr.num_remote_recv_peers < 0);
}

void copy(const mrc_qp_hint_attr& from, int mask, mrc_qp_hint_attr& to) {
  if ((mask & MRC_QP_HINT_NUM_QPS_PER_PEER) != 0) to.num_qps_per_peer = from.num_qps_per_peer;
  if ((mask & MRC_QP_HINT_NUM_SEND_PEERS) != 0) to.num_send_peers = from.num_send_peers;
  if ((mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS) != 0) to.num_remote_recv_peers = from.num_remote_recv_peers;
  if ((mask & MRC_QP_HINT_VENDOR_CFG) != 0) std::memcpy(to.vendor_cfg, from.vendor_cfg, sizeof to.vendor_cfg);
}

mrc::engine::CongestionHints to_hints(const mrc_qp_hint_attr& attr) {
  return {static_cast<std::uint32_t>(attr.num_qps_per_peer), static_cast<std::uint32_t>(attr.num_send_peers),
          static_cast<std::uint32_t>(attr.num_remote_recv_peers)};
}

bool usable(const mrc_qp_hint* hint, const mrc_qp_hint_attr* attr, int mask) {
  return hint != nullptr && attr != nullptr && (mask & ~kKnown) == 0;
}

}  // namespace

mrc::engine::CongestionHints mrc::lib::hints_of(mrc_qp_hint& hint) {
  const std::lock_guard lock(hint.mutex);
  return to_hints(hint.attr);
}

extern "C" {

mrc_qp_hint* mrc_create_qp_hint(mrc_context* context, mrc_qp_hint_init_attr* init) {
  if (context == nullptr || init == nullptr || !sensible(init->attr, kKnown))
    return fail_null<mrc_qp_hint>(EINVAL);
  std::atomic<std::uint32_t>& hints = context->device->hints;
  if (++hints > context->device->limits().max_qp_hint) {
    --hints;
    return fail_null<mrc_qp_hint>(ENOMEM);
  }
  auto* hint = new mrc_qp_hint{};
  hint->context = context;
  hint->attr = init->attr;
  ++context->objects;
  return hint;
}

int mrc_destroy_qp_hint(mrc_qp_hint* hint) {
  if (hint == nullptr) return fail(EINVAL);
  {
    const std::lock_guard lock(hint->mutex);
    if (!hint->users.empty()) return fail(EBUSY);
  }
  --hint->context->device->hints;
  --hint->context->objects;
  delete hint;
  return 0;
}

int mrc_query_qp_hint(mrc_qp_hint* hint, mrc_qp_hint_attr* attr, int mask) {
  if (!usable(hint, attr, mask)) return fail(EINVAL);
  const std::lock_guard lock(hint->mutex);
  copy(hint->attr, mask, *attr);
  return 0;
}

int mrc_modify_qp_hint(mrc_qp_hint* hint, mrc_qp_hint_attr* attr, int mask) {
  if (!usable(hint, attr, mask) || !sensible(*attr, mask)) return fail(EINVAL);
  const std::lock_guard lock(hint->mutex);
  copy(*attr, mask, hint->attr);
  // MRC-API-023: the QPs that were given the hint hear what it says now.
  for (mrc_qp* qp : hint->users) qp->shell->note_hints(to_hints(hint->attr));
  return 0;
}

}  // extern "C"
