// What a device tells of itself: counters of its own process, and the node's view of it.
#include <errno.h>
#include <unistd.h>

#include <cstdio>

#include "lib/nic_cq.h"
#include "lib/nic_device.h"
#include "lib/nic_qp.h"
#include "nic/refusals.h"
#include "node/process_metrics.h"
#include "node/qp_facts.h"

namespace mrc::lib {
namespace {

void add(const engine::QueuePair& engine, const engine::ResponderCounters& s, node::QpTotals& sum) {
  const engine::RequestorCounters& r = engine.requestor().counters();
  sum.tx_packets += r.packets;
  sum.tx_bytes += r.bytes;
  sum.repairs += r.repairs;
  sum.repeats += r.repeats;
  sum.timeouts += r.lost_by_timeout;
  sum.probes += r.probes;
  sum.rx_packets += s.packets;
  sum.rx_bytes += s.bytes;
  sum.duplicates += s.duplicates;
  sum.trims += s.trims;
  sum.marks += s.marks;
}

void add(nic::Qp& qp, node::QpTotals& sum) {
  if (qp.engine) add(*qp.engine, qp.engine->responder().counters(), sum);
}

}  // namespace

void NicDevice::retire(nic::Qp& qp) { add(qp, gone_); }

/// REQUIRES: mutex_ held, alive.
node::QpTotals NicDevice::totals() const {
  node::QpTotals sum = gone_;
  for (const Qpn qpn : qpns_) {
    if (nic::Qp* qp = nic_->find(qpn)) add(*qp, sum);
  }
  sum.refused = nic::refusals(driver_->refused()) + nic::refusals(nic_->verdicts());
  return sum;
}

DeviceCounters NicDevice::counters() const {
  const std::lock_guard lock(mutex_);
  DeviceCounters out;
  if (!alive_) return out;
  const node::QpTotals sum = totals();
  out = {.packets = sum.tx_packets,
         .repairs = sum.repairs,
         .timeouts = sum.timeouts,
         .probes = sum.probes,
         .received = sum.rx_packets,
         .duplicates = sum.duplicates,
         .refused = sum.refused};
  for (const auto& port : ports_) out.overrun += port->counters().rx_overrun;
  return out;
}

void NicDevice::tell_metrics(std::shared_ptr<node::ProcessMetrics> metrics) {
  metrics_ = std::move(metrics);
  metrics_->add(*this);
}

/// Joins the node's mrcd when there is one; else this process works alone, for as long as the device is open.
void NicDevice::join_node() {
  if (settings_.socket.empty()) return;
  node::Member& self = *this;
  auto remote = std::make_unique<node::RemoteProfiles>(settings_.socket, self);
  if (auto started = remote->start(); !started) {
    if (started.error().code == EPROTONOSUPPORT)
      std::fprintf(stderr, "libmrc: process %d works alone: %s\n", static_cast<int>(::getpid()),
                   started.error().what.c_str());
    return;
  }
  profiles_->unlisten(this);
  node_ = remote.get();
  profiles_ = std::move(remote);
  profiles_->listen(this);
}

node::Hello NicDevice::introduce() const {
  node::Hello hello;
  hello.program = program_invocation_short_name;
  hello.device = config_.name;
  hello.guid = config_.guid;
  for (const PortConfig& port : config_.ports) hello.ports.push_back({port.interface.name, port.address});
  const port::QpnRange range = ports_.front()->qpns();
  hello.first_qpn = range.first;
  hello.last_qpn = range.last;
  return hello;
}

void NicDevice::on_ports_disabled(PortMask disabled) {
  const Hold hold(*this);
  if (!alive_) return;
  const Time now = steady_now();
  for (const PortConfig& port : config_.ports) {
    const bool enabled = !disabled.has(port.id);
    if (driver_->port_admin(port.id) != enabled) driver_->set_port_admin(now, port.id, enabled);
  }
  transmit_soon(now, true);
}

node::PortFacts NicDevice::port_facts(std::size_t index) const {
  const PortConfig& known = config_.ports[index];
  const port::Link link = ports_[index]->link();
  const port::Counters& c = ports_[index]->counters();
  return {.port = known.id,
          .interface = known.interface.name,
          .address = known.address,
          .admin_enabled = driver_->port_admin(known.id),
          .link_up = link.up,
          .link_mtu = link.mtu,
          .bits_per_second = link.bits_per_second,
          .counters = {c.rx_packets, c.rx_bytes, c.tx_packets, c.tx_bytes, c.tx_discarded, c.rx_overrun,
                       c.rx_stray}};
}

node::ProcessFacts NicDevice::process_facts() const {
  node::ProcessFacts facts;
  facts.pid = static_cast<std::uint32_t>(::getpid());
  facts.uid = ::geteuid();
  facts.program = program_invocation_short_name;
  facts.device = config_.name;
  facts.taken_ns = static_cast<std::uint64_t>(steady_now().time_since_epoch().count());
  const std::lock_guard lock(mutex_);
  if (!alive_) return facts;
  facts.first_qpn = ports_.front()->qpns().first;
  facts.last_qpn = ports_.front()->qpns().last;
  facts.qp_count = static_cast<std::uint32_t>(qpns_.size());
  facts.totals = totals();
  for (std::size_t i = 0; i < ports_.size(); ++i) facts.ports.push_back(port_facts(i));
  return facts;
}

std::vector<Qpn> NicDevice::qpns() const {
  const std::lock_guard lock(mutex_);
  return {qpns_.begin(), qpns_.end()};
}

std::vector<node::QpFacts> NicDevice::qp_facts(std::span<const Qpn> which, bool with_evs) const {
  std::vector<node::QpFacts> all;
  const std::lock_guard lock(mutex_);
  for (const Qpn qpn : which) {
    nic::Qp* qp = alive_ ? nic_->find(qpn) : nullptr;
    if (qp == nullptr) continue;
    const QpAttributes& named = static_cast<NicQp*>(qp->made.owner)->attributes();
    node::QpFacts& facts = all.emplace_back(node::facts_of(*qp, with_evs));
    facts.ev_profile = named.ev_profile;
    facts.cc_profile = named.cc_profile;
    if (qp->engine) facts.peer = named.remote_gid;
  }
  return all;
}

}  // namespace mrc::lib
