// The objects of a device: domains, regions, queues.
#include "lib/nic_device.h"

#include <algorithm>
#include <cerrno>

#include "lib/nic_cq.h"
#include "lib/nic_qp.h"
#include "lib/no_memory.h"
#include "wire/datagram.h"

namespace mrc::lib {
namespace {

constexpr std::uint32_t kSrv6Bytes = 64;  // an outer IPv6 header and a segment routing header of one segment

}  // namespace

WireTerms NicDevice::wire_terms() const {
  const wire::Settings& w = settings_.wire;
  return {settings_.udp_port, settings_.icrc, w.dscp_trimmed, w.dscp_trimmed_lasthop};
}

PortStatus NicDevice::port_status(PortId port) const {
  const std::lock_guard lock(mutex_);
  if (!alive_ || port.value < 1 || port.value > ports_.size()) return {};
  const port::Link link = ports_[port.value - 1u]->link();
  return {.admin_enabled = driver_->port_admin(port),
          .link_up = link.up && driver_->port_address(port),
          .link_mtu = link.mtu,
          .outer_bytes = ports_[port.value - 1u]->capabilities().outer_ip ? kSrv6Bytes : 0,
          .bits_per_second = link.bits_per_second};
}

std::vector<GidEntry> NicDevice::gids(PortId port) const {
  if (port.value < 1 || port.value > config_.ports.size()) return {};
  const PortConfig& known = config_.ports[port.value - 1u];
  const auto interfaces = read_interfaces();
  if (!interfaces) return known.gids;
  for (const Interface& now : *interfaces) {
    if (now.name == known.interface.name) return make_gid_table(now, known.address);
  }
  return known.gids;
}

Result<Pd> NicDevice::create_pd() {
  const std::lock_guard lock(mutex_);
  if (pds_.size() >= limits_.max_pd) return Error{ENOMEM, "no more protection domains on this device"};
  while (pds_.contains(++last_pd_) || last_pd_ == 0) continue;
  pds_[last_pd_] = 0;
  return Pd{last_pd_};
}

int NicDevice::destroy_pd(Pd pd) {
  const std::lock_guard lock(mutex_);
  const auto found = pds_.find(pd.id);
  if (found == pds_.end()) return EINVAL;
  if (found->second > 0) return EBUSY;
  pds_.erase(found);
  return 0;
}

Result<Region> NicDevice::register_memory(Pd pd, void* address, std::size_t length, std::uint64_t iova,
                                          Access access) {
  const std::lock_guard lock(mutex_);
  const auto domain = pds_.find(pd.id);
  if (domain == pds_.end()) return Error{EINVAL, "no such protection domain"};
  const std::uint64_t va = access.zero_based ? 0 : iova;
  if (va + length < va) return Error{EINVAL, "the region wraps around the address space"};
  const auto key = nic_->regions().add(
      {va, length, static_cast<std::byte*>(address), nic::PdId(pd.id), access.remote_write});
  if (!key) return Error{ENOMEM, "no more memory regions on this device"};
  accesses_[key->value] = access;
  ++domain->second;
  return Region{key->value, key->value};
}

// MRC-API-027: what waits to be sent or received finds the key gone; nothing of the region is touched after
// this.
int NicDevice::deregister(Region region) {
  const std::lock_guard lock(mutex_);
  const nic::Region* known = nic_->regions().find(RKey(region.rkey));
  if (known == nullptr) return EINVAL;
  --pds_[known->pd.value];
  nic_->regions().remove(RKey(region.rkey));
  accesses_.erase(region.rkey);
  if (driver_ != nullptr) driver_->discard_unsent();  // it may point into the region
  return 0;
}

std::byte* NicDevice::readable(nic::PdId pd, std::uint32_t rkey, std::uint64_t va,
                               std::uint64_t length) const {
  const nic::Region* region = nic_->regions().find(RKey(rkey));
  if (region == nullptr || region->pd != pd || !region->holds(va, length)) return nullptr;
  const auto access = accesses_.find(rkey);
  return access != accesses_.end() && access->second.remote_read ? region->at(va) : nullptr;
}

Result<CompletionQueue*> NicDevice::create_cq(std::uint32_t depth, CqListener* listener) {
  if (depth == 0 || depth > limits_.max_cqe)
    return Error{EINVAL, "a completion queue has 1 to max_cqe entries"};
  return or_no_memory([&]() -> Result<CompletionQueue*> {
    auto cq = std::make_unique<NicCq>(*this, depth, listener);
    const std::lock_guard lock(mutex_);
    if (cqs_ >= limits_.max_cq) return Error{ENOMEM, "no more completion queues on this device"};
    ++cqs_;
    return static_cast<CompletionQueue*>(cq.release());
  });
}

int NicDevice::destroy_cq(CompletionQueue* queue) {
  auto* cq = static_cast<NicCq*>(queue);
  const std::lock_guard telling(tell_mutex_);
  {
    const std::lock_guard lock(mutex_);
    if (cq->users > 0) return EBUSY;
    --cqs_;
    forget(cq);
  }
  delete cq;
  return 0;
}

Result<QueuePair*> NicDevice::create_qp(const QpInit& init) {
  return or_no_memory([&] { return make_qp(init); });
}

Result<QueuePair*> NicDevice::make_qp(const QpInit& init) {
  auto qp = std::make_unique<NicQp>(*this, init);
  const std::lock_guard lock(mutex_);
  if (!alive_) return Error{ENODEV, "this device belongs to the parent process: open it again after fork"};
  const auto domain = pds_.find(init.pd.id);
  if (domain == pds_.end()) return Error{EINVAL, "no such protection domain"};
  nic::QpCreate create;
  create.pd = nic::PdId(init.pd.id);
  create.send_cq = &qp->send_cq().ring();
  create.recv_cq = &qp->recv_cq().ring();
  create.send_depth = static_cast<std::uint16_t>(std::max(init.send_depth, 1u));
  create.recv_depth = static_cast<std::uint16_t>(init.recv_depth);
  create.max_sge = static_cast<std::uint8_t>(std::max(init.max_send_sge, 1u));
  create.max_inline = static_cast<std::uint16_t>(init.max_inline);
  create.owner = qp.get();
  nic::Qp* made = nic_->create_qp(create);
  if (made == nullptr) return Error{ENOMEM, "no more queue pairs on this device"};
  qp->attach(*made);
  qpns_.insert(made->qpn);
  ++domain->second;
  ++qp->send_cq().users;
  ++qp->recv_cq().users;
  return static_cast<QueuePair*>(qp.release());
}

int NicDevice::destroy_qp(QueuePair* queue) {
  auto* qp = static_cast<NicQp*>(queue);
  const std::lock_guard telling(tell_mutex_);
  {
    const std::lock_guard lock(mutex_);
    NicCq& send = qp->send_cq();
    NicCq& recv = qp->recv_cq();
    std::unique_lock send_consumers(send.consumers());
    std::unique_lock<std::mutex> recv_consumers;
    if (&send != &recv) recv_consumers = std::unique_lock(recv.consumers());
    retire(qp->nic_qp());
    qpns_.erase(qp->qpn());
    nic_->destroy_qp(steady_now(), qp->nic_qp());
    qp->release_profiles();
    if (driver_ != nullptr) driver_->discard_unsent();
    --send.users;
    --recv.users;
    --pds_[qp->init().pd.id];
    forget(qp);
  }
  delete qp;
  return 0;
}

port::Counters NicDevice::port_counters(PortId port) const {
  const std::lock_guard lock(mutex_);
  return port.value >= 1 && port.value <= ports_.size() ? ports_[port.value - 1u]->counters()
                                                        : port::Counters{};
}

void NicDevice::listen(DeviceListener* listener) {
  const std::lock_guard telling(tell_mutex_);
  listeners_.insert(listener);
}

void NicDevice::unlisten(DeviceListener* listener) {
  const std::lock_guard telling(tell_mutex_);
  listeners_.erase(listener);
}

bool NicDevice::may_send_in(std::uint8_t dscp) const {
  return dscp == nic::kDscpByClass || !wire::is_trimmed(wire::class_of(dscp, settings_.wire));
}

bool NicDevice::owns(const Gid& gid) const {
  return std::any_of(config_.ports.begin(), config_.ports.end(),
                     [&](const PortConfig& p) { return p.address == gid; });
}

}  // namespace mrc::lib
