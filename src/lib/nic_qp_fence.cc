// IBV_SEND_FENCE: a request that starts when every read before it is done, and so does what is behind it.
//
// MRC has no reads, so the engine knows no fence: what must wait is kept here, and posted when the last
// read's bytes are copied. A QP in error flushes its reads first, and then these, in their order.
#include <cerrno>
#include <cstring>

#include "lib/nic_device.h"
#include "lib/nic_qp.h"

namespace mrc::lib {

int NicQp::check_local(const SendRequest& r) const {
  std::uint64_t length = 0;
  for (const Sge& sge : r.sges) {
    length += sge.length;
    if (r.inline_data || sge.length == 0) continue;
    const nic::Region* region = device_.nic().regions().find(RKey(sge.lkey));
    if (region == nullptr || region->pd != qp_->made.pd) return EINVAL;
  }
  const std::uint64_t most = r.inline_data ? init_.max_inline : UINT32_MAX;
  return length > most || r.sges.size() > nic::kMaxSge ? EINVAL : 0;
}

int NicQp::keep_behind_fence(const SendRequest& r) {
  if (qp_->engine->requestor().queue().outstanding() + fenced_.size() >= init_.send_depth) return ENOMEM;
  if (const int error = check_local(r); error != 0) return error;
  Fenced& kept = fenced_.emplace_back(Fenced{r, {r.sges.begin(), r.sges.end()}, {}});
  if (!r.inline_data) return 0;
  for (const Sge& sge : kept.sges) {
    const auto* from = reinterpret_cast<const std::byte*>(sge.address);
    kept.inline_bytes.insert(kept.inline_bytes.end(), from, from + sge.length);
  }
  std::size_t at = 0;
  for (Sge& sge : kept.sges) {  // only now: the bytes have stopped moving
    sge.address = reinterpret_cast<std::uint64_t>(kept.inline_bytes.data() + at);
    at += sge.length;
  }
  return 0;
}

// MRC-API-028: what is fenced starts when every read before it is done.
void NicQp::pass_fence(Time now) {
  while (!fenced_.empty() && !(fenced_.front().request.fence && !reads_.empty())) {
    Fenced next = std::move(fenced_.front());
    fenced_.pop_front();
    next.request.sges = next.sges;
    if (post_next(now, next.request) == 0) continue;
    // Its memory or its peer has gone since it was taken: the QP fails, and the request is flushed.
    device_.nic().stop(now, *qp_);
    next.request.op = SendOp::write;
    next.request.sges = {};
    post_one(now, next.request);
  }
  device_.transmit_now(now);
}

}  // namespace mrc::lib
