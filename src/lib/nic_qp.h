// A queue pair of the device: attributes to the NIC's terms, requests to its work.
#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "lib/device.h"
#include "nic/nic.h"

namespace mrc::lib {

class NicDevice;
class NicCq;

class NicQp final : public QueuePair {
 public:
  NicQp(NicDevice& device, const QpInit& init) : device_(device), init_(init) {}

  Qpn qpn() const override { return qp_->qpn; }
  engine::QpState state() const override;
  int modify(engine::QpState next, const QpAttributes& attributes) override;
  std::size_t send_room() const override;
  Posted post_send(std::span<const SendRequest> requests) override;
  Posted post_receive(std::span<const std::uint64_t> wr_ids) override;
  std::vector<PlaneStatus> planes() const override;

  void attach(nic::Qp& qp) { qp_ = &qp; }
  nic::Qp& nic_qp() { return *qp_; }
  const QpInit& init() const { return init_; }
  NicCq& send_cq() const;
  NicCq& recv_cq() const;
  /// A read's turn has come: everything before it is done. Fills in how it went; false when nobody wants to
  /// hear.
  bool finish_read(nic::Cqe& entry);
  /// Its reads are done: what waited behind a fence goes on. REQUIRES: the device is held.
  void pass_fence(Time now);
  const QpAttributes& attributes() const { return attributes_; }
  /// The engine's word on one of our paths, and the controller's.
  void note_path(const engine::PathChanged& change);
  void set_denied(Time now, std::uint32_t slot, bool denied);
  /// One of its sends was polled. REQUIRES: the consumers of its CQ are locked out.
  void note_polled() {
    polled_.store(polled_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Lets go of the profiles. Call it before the QP goes.
  void release_profiles();

  static constexpr std::uint8_t kReadTag = 1;

 private:
  struct Read {
    std::uint64_t wr_id;
    std::uint64_t remote_va;
    std::uint32_t rkey;
    bool signaled;
    std::vector<Sge> sges;
  };
  /// A request that waits for the reads before it, and whatever was posted behind it: with what it points to.
  struct Fenced {
    SendRequest request;
    std::vector<Sge> sges;
    std::vector<std::byte> inline_bytes;
  };
  /// Profiles that the QP named, taken before the device is held: mrcd may have to be asked.
  struct Profiles {
    int error = 0;
    std::optional<node::EvSet> evs;
    std::optional<engine::CcProfile> cc;
  };
  Profiles acquire_profiles(const QpAttributes& attributes);
  void adopt_profiles(const QpAttributes& attributes, Profiles profiles);
  int change_in_place(const QpAttributes& attributes, Profiles profiles);
  int connect(Time now, const QpAttributes& attributes);
  int start(Time now, const QpAttributes& attributes);
  int post_one(Time now, const SendRequest& request);
  int post_read(Time now, const SendRequest& request);
  int post_next(Time now, const SendRequest& request);
  int check_local(const SendRequest& request) const;
  bool waits(const SendRequest& request) const {
    return !fenced_.empty() || (request.fence && !reads_.empty());
  }
  /// Signaled requests whose completions nobody has polled; failures of others may make it less.
  std::int32_t unpolled() const {
    return static_cast<std::int32_t>(signaled_ - polled_.load(std::memory_order_relaxed));
  }
  bool is_full(const SendRequest& request) const {
    return request.signaled && unpolled() >= static_cast<std::int32_t>(qp_->made.send_depth);
  }
  void drop_completions();
  int keep_behind_fence(const SendRequest& request);
  engine::WorkStatus copy(const Read& read) const;

  NicDevice& device_;
  QpInit init_;
  nic::Qp* qp_ = nullptr;
  QpAttributes attributes_;
  std::deque<Read> reads_;
  std::deque<Fenced> fenced_;
  std::optional<node::EvSet> evs_;  // of the EV profile, if any
  bool holds_cc_ = false;
  std::vector<bool> reported_bad_;  // per slot, to the profile
  std::uint32_t signaled_ = 0;      // taken since RESET
  std::atomic<std::uint32_t> polled_{0};
};

}  // namespace mrc::lib
