// The extended completion queue: completions read field by field between start_poll and end_poll.
#include <cerrno>

#include "verbs/objects.h"

namespace mrc::verbs {
namespace {

constexpr std::uint32_t kKnownMask = IBV_CQ_INIT_ATTR_MASK_FLAGS;

/// The next completion into the fields that programs read, or ENOENT.
int take(SoftCq& cq) {
  const int got = cq.shell->poll(1, &cq.current);
  if (got == 0) return ENOENT;
  if (got < 0) return EIO;  // the queue has overrun
  cq.status = cq.current.status;
  cq.wr_id = cq.current.wr_id;
  return 0;
}

void unlock(SoftCq& cq) {
  if (!cq.single_threaded) cq.polling.unlock();
}

/// The lock stays with the caller until end_poll, unless there is nothing to read.
int start_poll(ibv_cq_ex* handle, ibv_poll_cq_attr* attr) {
  if (attr != nullptr && attr->comp_mask != 0) return EINVAL;
  SoftCq& cq = *soft(handle);
  if (!cq.single_threaded) cq.polling.lock();
  const int error = take(cq);
  if (error != 0) unlock(cq);
  return error;
}
int next_poll(ibv_cq_ex* cq) { return take(*soft(cq)); }
void end_poll(ibv_cq_ex* cq) { unlock(*soft(cq)); }

const ibv_wc& current(ibv_cq_ex* cq) { return soft(cq)->current; }

void fill_readers(ibv_cq_ex& cq) {
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = [](ibv_cq_ex* c) { return current(c).opcode; };
  cq.read_vendor_err = [](ibv_cq_ex* c) { return current(c).vendor_err; };
  cq.read_byte_len = [](ibv_cq_ex* c) { return current(c).byte_len; };
  cq.read_imm_data = [](ibv_cq_ex* c) { return current(c).imm_data; };
  cq.read_qp_num = [](ibv_cq_ex* c) { return current(c).qp_num; };
  cq.read_src_qp = [](ibv_cq_ex* c) { return current(c).src_qp; };
  cq.read_wc_flags = [](ibv_cq_ex* c) { return static_cast<unsigned>(current(c).wc_flags); };
  cq.read_slid = [](ibv_cq_ex* c) { return std::uint32_t{current(c).slid}; };
  cq.read_sl = [](ibv_cq_ex* c) { return current(c).sl; };
  cq.read_dlid_path_bits = [](ibv_cq_ex* c) { return current(c).dlid_path_bits; };
}

}  // namespace

/// EOPNOTSUPP for timestamps, tags and parent domains, and for queues that overrun silently: ours never do.
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* init) {
  if (init == nullptr || init->cqe > INT32_MAX || init->comp_vector > INT32_MAX)
    return fail<ibv_cq_ex>(EINVAL);
  const std::uint32_t flags = (init->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0 ? init->flags : 0;
  if ((init->comp_mask & ~kKnownMask) != 0 || (init->wc_flags & ~std::uint64_t{IBV_WC_STANDARD_FLAGS}) != 0 ||
      (flags & ~std::uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}) != 0)
    return fail<ibv_cq_ex>(EOPNOTSUPP);
  SoftCq* cq = make_cq(*soft_context(context), static_cast<int>(init->cqe), init->cq_context, init->channel,
                       static_cast<int>(init->comp_vector));
  if (cq == nullptr) return nullptr;
  cq->single_threaded = flags != 0;
  fill_readers(*cq);
  return cq;
}

}  // namespace mrc::verbs
