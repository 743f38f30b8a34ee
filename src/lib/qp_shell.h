// A queue pair as programs see it, whichever interface they use: attributes, work requests, asynchronous
// events.
#pragma once

#include <memory>
#include <mutex>

#include "lib/async_event.h"
#include "lib/cq_shell.h"
#include "lib/qp_transition.h"

namespace mrc::lib {

struct QpRequest {
  QpKind kind = QpKind::rc;
  Pd pd;
  CqShell* send_cq = nullptr;
  CqShell* recv_cq = nullptr;
  ibv_qp_cap cap{};
  bool signal_all = false;
};

class QpShell final : public QpListener {
 public:
  /// EINVAL for capacities that the device does not have; ENOMEM.
  static Result<std::unique_ptr<QpShell>> create(std::shared_ptr<Device> device, AsyncQueue& async,
                                                 void* handle, const QpRequest& request);
  /// REQUIRES: close() returned 0.
  ~QpShell() = default;
  int close();

  int modify(const QpChange& change);
  /// The hint that the QP was given says something else.
  void note_hints(const engine::CongestionHints& hints);
  /// Attributes as last set, with state and capacities as they are.
  QpRecord query() const;

  /// As ibv_post_send and ibv_post_recv: 0, or an errno and *bad.
  int post_send(ibv_send_wr* wr, ibv_send_wr** bad);
  int post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad);

  Qpn qpn() const { return queue_->qpn(); }
  ibv_qp_state state() const { return to_verbs(queue_->state()); }
  std::vector<PlaneStatus> planes() const { return queue_->planes(); }
  std::size_t send_room() const { return queue_->send_room(); }
  const QpRequest& request() const { return request_; }
  Acknowledgements& async_acks() { return async_acks_; }

  void on_qp_fatal(bool access) override;
  void on_established() override;

 private:
  QpShell(std::shared_ptr<Device> device, AsyncQueue& async, void* handle, const QpRequest& request);
  int post_one(ibv_send_wr* wr, ibv_send_wr** bad);
  int to_request(const ibv_send_wr& wr, SendRequest& out) const;
  int check_receive(const ibv_recv_wr& wr) const;

  std::shared_ptr<Device> device_;
  AsyncQueue& async_;
  void* handle_;
  QpRequest request_;
  QueuePair* queue_ = nullptr;
  mutable std::mutex mutex_;  // of record_
  QpRecord record_;
  Acknowledgements async_acks_;
};

/// The largest path MTU that the link carries with all MRC headers.
ibv_mtu active_mtu(const PortStatus& status);
/// What every port of the device carries: a QP runs over all of them.
ibv_mtu active_mtu(const Device& device);

}  // namespace mrc::lib
