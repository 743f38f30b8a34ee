// A Device for tests: QPs of one object reach each other by memcpy, at once, in the caller's thread. It keeps
// every promise of device.h that a shell can see, so that the shells are tested without a network.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "lib/device.h"
#include "node/local_profiles.h"

namespace mrc::lib {

class MemoryDevice;

class MemoryCq final : public CompletionQueue {
 public:
  MemoryCq(std::uint32_t depth, CqListener* listener) : depth_(depth), listener_(listener) {}

  int poll(std::span<WorkCompletion> out) override {
    const std::lock_guard lock(mutex_);
    std::size_t n = 0;
    for (; n < out.size() && !entries_.empty(); ++n) {
      out[n] = entries_.front();
      entries_.pop_front();
    }
    return n == 0 && overrun_ ? -1 : static_cast<int>(n);
  }
  void arm(bool solicited_only) override {
    const std::lock_guard lock(mutex_);
    armed_ = solicited_only ? Armed::solicited : Armed::any;
  }
  std::uint32_t depth() const override { return depth_; }
  int resize(std::uint32_t depth) override {
    if (depth < entries_.size()) return EINVAL;
    depth_ = depth;
    return 0;
  }

  void push(const WorkCompletion& entry, bool solicited) {
    bool tell = false, lost = false;
    {
      const std::lock_guard lock(mutex_);
      lost = !overrun_ && entries_.size() == depth_;
      overrun_ |= lost;
      if (entries_.size() < depth_) entries_.push_back(entry);
      const bool urgent = solicited || entry.status != engine::WorkStatus::success;
      tell = armed_ == Armed::any || (armed_ == Armed::solicited && urgent);
      if (tell) armed_ = Armed::no;
    }
    if (listener_ != nullptr && lost) listener_->on_cq_overrun();
    if (listener_ != nullptr && tell) listener_->on_cq_event();
  }
  void drop(Qpn qpn) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [qpn](const WorkCompletion& entry) { return entry.qpn == qpn; });
  }
  int users = 0;

 private:
  enum class Armed { no, any, solicited };
  std::mutex mutex_;
  std::uint32_t depth_;
  CqListener* listener_;
  std::deque<WorkCompletion> entries_;
  Armed armed_ = Armed::no;
  bool overrun_ = false;
};

class MemoryQp final : public QueuePair {
 public:
  MemoryQp(MemoryDevice& device, Qpn qpn, const QpInit& init) : device_(device), qpn_(qpn), init_(init) {}
  Qpn qpn() const override { return qpn_; }
  engine::QpState state() const override { return state_; }
  int modify(engine::QpState next, const QpAttributes& attributes) override {
    state_ = next;
    attributes_ = attributes;
    if (next == engine::QpState::error) flush();
    if (next == engine::QpState::reset) receives_.clear();
    return 0;
  }
  std::size_t send_room() const override { return init_.send_depth; }
  Posted post_send(std::span<const SendRequest> requests) override;
  Posted post_receive(std::span<const std::uint64_t> ids) override {
    if (state_ == engine::QpState::reset) return {EINVAL, 0};
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (receives_.size() == init_.recv_depth) return {ENOMEM, i};
      receives_.push_back(ids[i]);
    }
    if (state_ == engine::QpState::error) flush();
    return {0, ids.size()};
  }

  const QpInit& init() const { return init_; }
  const QpAttributes& attributes() const { return attributes_; }
  MemoryCq& send_cq() const { return static_cast<MemoryCq&>(*init_.send_cq); }
  MemoryCq& recv_cq() const { return static_cast<MemoryCq&>(*init_.recv_cq); }

  void fail(bool access) {
    state_ = engine::QpState::error;
    flush();
    if (init_.listener != nullptr) init_.listener->on_qp_fatal(access);
  }

 private:
  friend class MemoryDevice;
  engine::WorkStatus execute(const SendRequest& request, std::uint32_t& length);
  void flush() {
    for (const auto id : receives_) {
      recv_cq().push({id, qpn_, CompletionOp::receive_imm, engine::WorkStatus::flushed, 0, 0}, false);
    }
    receives_.clear();
  }

  MemoryDevice& device_;
  Qpn qpn_;
  QpInit init_;
  engine::QpState state_ = engine::QpState::reset;
  QpAttributes attributes_;
  std::deque<std::uint64_t> receives_;
};

class MemoryDevice final : public Device {
 public:
  explicit MemoryDevice(DeviceConfig config) : config_(std::move(config)) {
    status_.link_up = true;
    status_.link_mtu = 65536;
    status_.bits_per_second = 100'000'000'000;
  }
  const DeviceConfig& config() const override { return config_; }
  const Limits& limits() const override { return limits_; }
  PortStatus port_status(PortId port) const override {
    PortStatus status = status_;
    if (const auto set = link_mtus_.find(port.value); set != link_mtus_.end()) status.link_mtu = set->second;
    return status;
  }
  void set_link_mtu(PortId port, std::uint32_t mtu) { link_mtus_[port.value] = mtu; }
  std::vector<GidEntry> gids(PortId port) const override { return config_.ports.at(port.value - 1u).gids; }

  Result<Pd> create_pd() override {
    pds_.insert(++last_pd_);
    return Pd{last_pd_};
  }
  int destroy_pd(Pd pd) override {
    const auto in_pd = [pd](const auto& item) { return item.second.pd == pd; };
    if (std::any_of(regions_.begin(), regions_.end(), in_pd)) return EBUSY;
    if (std::any_of(qps_.begin(), qps_.end(), [pd](const auto& q) { return q.second->init().pd == pd; }))
      return EBUSY;
    return pds_.erase(pd.id) == 1 ? 0 : EINVAL;
  }

  Result<Region> register_memory(Pd pd, void* address, std::size_t length, std::uint64_t iova,
                                 Access access) override {
    if (!pds_.contains(pd.id)) return Error{EINVAL, "no such PD"};
    const std::uint32_t key = ++last_key_;
    regions_[key] = {pd, static_cast<std::byte*>(address), length, access.zero_based ? 0 : iova, access};
    return Region{key, key};
  }
  int deregister(Region region) override { return regions_.erase(region.lkey) == 1 ? 0 : EINVAL; }

  Result<CompletionQueue*> create_cq(std::uint32_t depth, CqListener* listener) override {
    return cqs_.emplace_back(std::make_unique<MemoryCq>(depth, listener)).get();
  }
  int destroy_cq(CompletionQueue* cq) override {
    if (static_cast<MemoryCq*>(cq)->users > 0) return EBUSY;
    std::erase_if(cqs_, [cq](const auto& one) { return one.get() == cq; });
    return 0;
  }
  Result<QueuePair*> create_qp(const QpInit& init) override {
    const Qpn qpn(++last_qpn_);
    auto& qp = qps_[qpn] = std::make_unique<MemoryQp>(*this, qpn, init);
    ++qp->send_cq().users;
    ++qp->recv_cq().users;
    return qp.get();
  }
  int destroy_qp(QueuePair* queue) override {
    auto* qp = static_cast<MemoryQp*>(queue);
    for (MemoryCq* cq : {&qp->send_cq(), &qp->recv_cq()}) {
      --cq->users;
      cq->drop(qp->qpn());
    }
    qps_.erase(qp->qpn());
    return 0;
  }
  void listen(DeviceListener* listener) override { listeners_.insert(listener); }
  void unlisten(DeviceListener* listener) override { listeners_.erase(listener); }

  node::ProfileStore& profiles() override { return profiles_; }
  int set_port_admin(PortId port, bool enabled) override {
    if (port.value < 1 || port.value > config_.ports.size()) return EINVAL;
    status_.admin_enabled = enabled;
    for (auto* listener : listeners_) listener->on_port(port, status_.active());
    return 0;
  }
  /// Requests to our own GIDs are answered, others are not.
  int endpoint_batch(std::span<const EndpointRequest> requests, Duration,
                     std::vector<EndpointAnswer>& answers) override {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const auto table = gids(requests[i].port);
      const bool ours =
          std::any_of(table.begin(), table.end(), [&](const GidEntry& e) { return e.gid == requests[i].to; });
      if (ours) answers.push_back({i, requests[i].port, 1500ns, true});
    }
    return answers.size() == requests.size() ? 0 : ETIMEDOUT;
  }

  // For tests.
  MemoryQp* find(Qpn qpn) { return qps_.contains(qpn) ? qps_[qpn].get() : nullptr; }
  std::size_t objects() const { return qps_.size() + cqs_.size() + regions_.size() + pds_.size(); }
  void set_port(PortId port, bool up) {
    status_.link_up = up;
    for (auto* listener : listeners_) listener->on_port(port, up);
  }
  Limits& limits() { return limits_; }

  /// The bytes, or null when the key, the PD or the bounds are wrong.
  std::byte* look_up(std::uint32_t key, Pd pd, std::uint64_t va, std::uint64_t length, bool Access::*right) {
    const auto found = regions_.find(key);
    if (found == regions_.end()) return nullptr;
    const auto& r = found->second;
    if (!(r.pd == pd) || (right != nullptr && !(r.access.*right))) return nullptr;
    if (va < r.iova || length > r.length || va - r.iova > r.length - length) return nullptr;
    return r.address + (va - r.iova);
  }

 private:
  struct MemoryRegion {
    Pd pd;
    std::byte* address;
    std::size_t length;
    std::uint64_t iova;
    Access access;
  };
  DeviceConfig config_;
  Limits limits_;
  PortStatus status_;
  std::map<unsigned, std::uint32_t> link_mtus_;  // of ports that have one of their own
  node::LocalProfiles profiles_{[this] {
    node::ProfileLimits of;
    of.ports = static_cast<std::uint32_t>(config_.ports.size());
    return of;
  }()};
  std::uint32_t last_pd_ = 0, last_key_ = 0x100, last_qpn_ = 16;
  std::set<std::uint32_t> pds_;
  std::map<std::uint32_t, MemoryRegion> regions_;
  std::vector<std::unique_ptr<MemoryCq>> cqs_;
  std::map<Qpn, std::unique_ptr<MemoryQp>> qps_;
  std::set<DeviceListener*> listeners_;
};

inline engine::WorkStatus MemoryQp::execute(const SendRequest& request, std::uint32_t& length) {
  using engine::WorkStatus;
  MemoryQp* peer = device_.find(attributes_.remote_qpn);
  if (peer == nullptr || peer->state_ == engine::QpState::reset) return WorkStatus::retry_exceeded;
  for (const auto& sge : request.sges) length += sge.length;
  const bool read = request.op == SendOp::read;
  const auto right = read ? &Access::remote_read : &Access::remote_write;
  std::byte* remote = device_.look_up(request.rkey, peer->init_.pd, request.remote_va, length, right);
  if (length > 0 && remote == nullptr) {
    peer->fail(true);
    return WorkStatus::remote_access_error;
  }
  for (const auto& sge : request.sges) {
    auto* local = request.inline_data ? reinterpret_cast<std::byte*>(sge.address)
                                      : device_.look_up(sge.lkey, init_.pd, sge.address, sge.length, nullptr);
    if (local == nullptr) return WorkStatus::local_protection_error;
    std::memmove(read ? local : remote, read ? remote : local, sge.length);
    remote += sge.length;
  }
  if (request.op != SendOp::write_imm) return WorkStatus::success;
  if (peer->receives_.empty()) return WorkStatus::remote_operation_error;
  peer->recv_cq().push({peer->receives_.front(), peer->qpn_, CompletionOp::receive_imm, WorkStatus::success,
                        length, request.imm},
                       request.solicited);
  peer->receives_.pop_front();
  return WorkStatus::success;
}

inline QueuePair::Posted MemoryQp::post_send(std::span<const SendRequest> requests) {
  using engine::WorkStatus;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto& request = requests[i];
    if (state_ != engine::QpState::rts && state_ != engine::QpState::error) return {EINVAL, i};
    std::uint32_t length = 0;
    const auto status = state_ == engine::QpState::error ? WorkStatus::flushed : execute(request, length);
    const auto op = request.op == SendOp::read ? CompletionOp::read : CompletionOp::write;
    if (request.signaled || status != WorkStatus::success)
      send_cq().push({request.wr_id, qpn_, op, status, length, 0}, false);
    if (status != WorkStatus::success && status != WorkStatus::flushed) fail(false);
  }
  return {0, requests.size()};
}

}  // namespace mrc::lib
