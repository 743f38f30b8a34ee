// The objects behind the opaque types of mrc.h.
#pragma once

#include <mrc.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "lib/cq_shell.h"
#include "lib/ev_cq.h"
#include "lib/qp_shell.h"
#include "lib/soft_context.h"

/// Keeps the device, and not the verbs context: programs may close the two in any order.
struct mrc_context final : mrc::lib::DeviceListener {
  mrc_context(std::shared_ptr<mrc::lib::Device> over, std::uint32_t version);
  ~mrc_context();

  void on_port(mrc::PortId port, bool active) override { async.push(mrc::lib::port_event(port, active)); }
  void on_gid_change(mrc::PortId port) override {
    async.push({IBV_EVENT_GID_CHANGE, nullptr, port.value, nullptr});
  }

  std::shared_ptr<mrc::lib::Device> device;
  std::uint32_t api_version;  // as the program stated it; the current one where it did not
  mrc::lib::AsyncQueue async;
  std::atomic<int> objects = 0;  // that were made in it and still are
};

struct mrc_comp_channel {
  mrc_context* context = nullptr;
  mrc::lib::Channel channel;
};

/// A CQ of completions or, made by mrc_ctl_create_ev_event_cq, of EV events: one of the two is there.
struct mrc_cq {
  mrc_context* context = nullptr;
  std::unique_ptr<mrc::lib::CqShell> completions;
  std::unique_ptr<mrc::lib::EvCq> ev_events;
};

struct mrc_qp_hint {
  mrc_context* context = nullptr;
  std::mutex mutex;  // of attr and users
  mrc_qp_hint_attr attr{};
  std::set<mrc_qp*> users;  // QPs that were given it
};

struct mrc_qp {
  mrc_context* context = nullptr;
  void* qp_context = nullptr;
  mrc_cq* send_cq = nullptr;
  mrc_cq* recv_cq = nullptr;
  ibv_pd* pd = nullptr;
  std::uint64_t send_ops_flags = 0;
  mrc_protocol_version protocol_version = MRC_PROTOCOL_VERSION_1;
  mrc_qp_hint* hint = nullptr;
  std::unique_ptr<mrc::lib::QpShell> shell;
};

namespace mrc::lib {

/// What a hint says at the moment.
engine::CongestionHints hints_of(mrc_qp_hint& hint);

/// -1 with errno, as half of the interface fails.
inline int fail(int error) {
  errno = error;
  return -1;
}
/// Null with errno, as constructors fail.
template <class Object>
Object* fail_null(int error) {
  errno = error;
  return nullptr;
}

}  // namespace mrc::lib
