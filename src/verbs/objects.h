// The verbs objects of a soft device: what programs hold, with what is behind it. Each is recognised by its
// context.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <mutex>

#include "lib/cq_shell.h"
#include "lib/qp_shell.h"
#include "lib/soft_context.h"

namespace mrc::verbs {

using lib::soft_context;
using lib::soft_pd;
using lib::SoftContext;
using lib::SoftPd;

struct SoftMr : ibv_mr {
  std::shared_ptr<lib::Device> device;
  lib::Region region;
};

struct SoftChannel : ibv_comp_channel {
  std::shared_ptr<SoftContext> owner;
  lib::Channel channel;
};

struct SoftCq : ibv_cq_ex {
  std::shared_ptr<SoftContext> owner;
  std::unique_ptr<lib::CqShell> shell;
  // Between start_poll and end_poll (completion_ex.cc).
  std::mutex polling;
  bool single_threaded = false;
  ibv_wc current{};
  ibv_cq* plain() { return ibv_cq_ex_to_cq(this); }
};

class WorkBuilder;  // of the ibv_wr_* calls

struct SoftQp : ibv_qp_ex {
  std::unique_ptr<lib::QpShell> shell;
  std::unique_ptr<WorkBuilder> builder;  // where the program asked for the ibv_wr_* calls
  ~SoftQp();
};

/// Is the object one of ours? Every verbs object begins with its context.
template <class Object>
bool is_ours(const Object* object) {
  return object != nullptr && lib::is_soft(object->context->device);
}

inline SoftCq* soft(ibv_cq* cq) { return static_cast<SoftCq*>(reinterpret_cast<ibv_cq_ex*>(cq)); }
inline SoftCq* soft(ibv_cq_ex* cq) { return static_cast<SoftCq*>(cq); }
inline SoftQp* soft(ibv_qp* qp) { return static_cast<SoftQp*>(reinterpret_cast<ibv_qp_ex*>(qp)); }
inline SoftMr* soft(ibv_mr* mr) { return static_cast<SoftMr*>(mr); }
inline SoftChannel* soft(ibv_comp_channel* channel) { return static_cast<SoftChannel*>(channel); }

/// A null pointer with errno, as verbs constructors fail.
template <class Pointer = void>
Pointer* fail(int error) {
  errno = error;
  return nullptr;
}

/// A completion queue of a soft context, with either interface. Null with errno.
SoftCq* make_cq(SoftContext& ours, int cqe, void* cq_context, ibv_comp_channel* channel, int vector);

/// Makes a context over this device; programs get it from ibv_open_device. Null with errno.
ibv_context* make_context(ibv_device* from, std::shared_ptr<lib::Device> device);

// The entries of a context that inline functions of verbs.h call.
int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attr, std::size_t size);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input, ibv_device_attr_ex* attr,
                    std::size_t size);
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* init);
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* init);
int poll_cq(ibv_cq* cq, int count, ibv_wc* wc);
int req_notify_cq(ibv_cq* cq, int solicited_only);
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);

}  // namespace mrc::verbs
