// What drives a device: turns, telling listeners, fork.
#include <unistd.h>

#include <thread>

#include "lib/nic_cq.h"
#include "lib/nic_device.h"
#include "lib/nic_qp.h"

namespace mrc::lib {

bool NicDevice::turn(Time now) {
  bool moved = false;
  {
    const std::lock_guard lock(mutex_);
    if (alive_) follow_addresses(now), moved = driver_->turn(now);
  }
  tell();
  return moved;
}

// MRC-API-025: addresses that come and go change the GID table, which is told; a port whose own address is
// gone is down until it is back.
void NicDevice::note_address(Time now, const AddressChange& change) {
  for (const PortConfig& port : config_.ports) {
    if (port.address == change.address) {
      driver_->set_port_address(now, port.id, change.usable);
    } else if (ports_[port.id.value - 1u]->link().interface != change.interface) {
      continue;
    }
    note({.kind = Notice::Kind::gids, .port = port.id});
  }
}

void NicDevice::follow_addresses(Time now) {
  constexpr Duration kInterval = 5ms;
  if (!addresses_ || now < next_address_look_) return;
  const port::NoCancel whole;
  next_address_look_ = now + kInterval;
  address_changes_.clear();
  addresses_->read(address_changes_);
  for (const AddressChange& change : address_changes_) note_address(now, change);
}

void NicDevice::note_busy_poll() {
  const Time now = steady_now();
  if (now - stepped_.load(std::memory_order_relaxed) >= settings_.turn_every) return step(now);
  progress_.note_poll(now);
}

void NicDevice::step(Time now) {
  stepped_.store(now, std::memory_order_relaxed);
  progress_.note_poll(now);
  if (!mutex_.try_lock()) {
    std::this_thread::yield();  // whoever drives may be waiting for this very core
    return;
  }
  if (alive_) follow_addresses(now), driver_->glance(now);
  mutex_.unlock();
  tell();
}

// An application that polls in a loop turns the datapath itself, and what waits for that leaves in one burst.
// Where little is outstanding there is no burst to wait for, and somebody may wait for a reply.
void NicDevice::transmit_soon(Time now, bool few_outstanding) {
  if (!alive_) return;
  if (few_outstanding || !progress_.polled_lately(now)) driver_->transmit(now);
  progress_.note_deadline(now, driver_->next_timeout());
}

void NicDevice::transmit_now(Time now) {
  if (!alive_) return;
  driver_->transmit(now);
  progress_.note_deadline(now, driver_->next_timeout());
}

void NicDevice::note(const Notice& notice) {
  notices_.push_back(notice);
  has_notices_.store(true, std::memory_order_release);
}

void NicDevice::on_cq_notify(nic::CompletionQueue& cq) {
  static_cast<NicCq*>(cq.owner)->note_notified();
  note({.kind = Notice::Kind::cq_event, .who = cq.owner});
}
void NicDevice::on_cq_overrun(nic::CompletionQueue& cq) {
  note({.kind = Notice::Kind::cq_overrun, .who = cq.owner});
}
void NicDevice::on_qp_error(nic::Qp& qp) {
  ++gone_.failed_qps;
  const bool access = qp.engine && qp.engine->responder().failed();
  note({.kind = access ? Notice::Kind::qp_access : Notice::Kind::qp_fatal, .who = qp.made.owner});
}
void NicDevice::on_established(nic::Qp& qp) {
  note({.kind = Notice::Kind::established, .who = qp.made.owner});
}
void NicDevice::on_local_port(PortId port, bool up) {
  note({.kind = Notice::Kind::port, .port = port, .up = up});
}
bool NicDevice::on_tagged(nic::Qp& qp, nic::Cqe& entry) {
  return static_cast<NicQp*>(qp.made.owner)->finish_read(entry);
}

void NicDevice::note_unfenced(NicQp& qp) { note({.kind = Notice::Kind::unfenced, .who = &qp}); }

void NicDevice::forget(const void* who) {
  std::erase_if(notices_, [who](const Notice& n) { return n.who == who; });
}

void NicDevice::tell() {
  if (!has_notices_.load(std::memory_order_acquire)) return;
  const port::NoCancel whole;  // each is told once
  const std::lock_guard telling(tell_mutex_);
  do {  // what passes a fence may have something to tell at once
    {
      const std::lock_guard lock(mutex_);
      telling_.swap(notices_);
      has_notices_.store(false, std::memory_order_relaxed);
    }
    for (const Notice& notice : telling_) tell_one(notice);
    telling_.clear();
  } while (has_notices_.load(std::memory_order_acquire));
}

void NicDevice::tell_one(const Notice& notice) {
  using Kind = Notice::Kind;
  if (notice.kind == Kind::gids) {
    for (DeviceListener* listener : listeners_) listener->on_gid_change(notice.port);
  } else if (notice.kind == Kind::port) {
    for (DeviceListener* listener : listeners_) listener->on_port(notice.port, notice.up);
  } else if (notice.kind == Kind::cq_event || notice.kind == Kind::cq_overrun) {
    CqListener* listener = static_cast<NicCq*>(notice.who)->listener();
    if (listener == nullptr) return;
    notice.kind == Kind::cq_event ? listener->on_cq_event() : listener->on_cq_overrun();
  } else {
    tell_qp(notice);
  }
}

void NicDevice::tell_qp(const Notice& notice) {
  using Kind = Notice::Kind;
  auto* qp = static_cast<NicQp*>(notice.who);
  if (notice.kind == Kind::unfenced) {
    const std::lock_guard lock(mutex_);
    return qp->pass_fence(steady_now());
  }
  if (node_ != nullptr && notice.kind != Kind::established) node_->note_qp_failed(qp->nic_qp().qpn);
  if (QpListener* listener = qp->init().listener; listener != nullptr) {
    notice.kind == Kind::established ? listener->on_established()
                                     : listener->on_qp_fatal(notice.kind == Kind::qp_access);
  }
}

void NicDevice::before_fork() {
  if (node_ != nullptr) node_->before_fork_outer();
  tell_mutex_.lock();
  mutex_.lock();
  if (node_ != nullptr) node_->before_fork();
}

void NicDevice::after_fork_in_parent() {
  if (node_ != nullptr) node_->after_fork_in_parent();
  mutex_.unlock();
  tell_mutex_.unlock();
}

// The child has neither the thread nor a right to the parent's QPs. Its copies of the sockets must go, or the
// parent's seat would stay taken after the parent.
void NicDevice::after_fork_in_child() {
  alive_ = false;
  if (node_ != nullptr) node_->after_fork_in_child();
  progress_.forget_thread();
  driver_.reset();
  ports_.clear();
  seat_.reset();
  addresses_.reset();
  mutex_.unlock();
  tell_mutex_.unlock();
}

}  // namespace mrc::lib
