// What drives a device: opening, turns, telling listeners, fork.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "lib/nic_cq.h"
#include "lib/nic_device.h"
#include "lib/nic_qp.h"
#include "lib/open_port.h"
#include "node/local_profiles.h"
#include "node/process_metrics.h"

namespace mrc::lib {
namespace {

std::uint64_t random_word() {
  std::uint64_t word = 0;
  while (::getrandom(&word, sizeof word, 0) != sizeof word) continue;
  return word;
}

}  // namespace

NicDevice::NicDevice(const DeviceConfig& config, const DeviceSettings& settings)
    : config_(config),
      settings_(settings),
      progress_({.turn = [this](Time now) { return turn(now); },
                 .next_timeout =
                     [this] {
                       const std::lock_guard lock(mutex_);
                       return driver_->next_timeout();
                     },
                 .descriptors =
                     [this](std::vector<int>& readable, std::vector<int>& writable) {
                       const std::lock_guard lock(mutex_);
                       if (addresses_) readable.push_back(addresses_->fd());
                       for (const auto& port : ports_) {
                         readable.push_back(port->wait_fd());
                         if (port->event_fd() >= 0) readable.push_back(port->event_fd());
                         if (port->tx_blocked_fd() >= 0) writable.push_back(port->tx_blocked_fd());
                       }
                     }},
                {settings.spin, settings.aside}) {
  node::ProfileLimits profile_limits;
  profile_limits.ports = static_cast<std::uint32_t>(config.ports.size());
  profiles_ = std::make_unique<node::LocalProfiles>(profile_limits);
  profiles_->listen(this);
  notices_.reserve(64);
  telling_.reserve(64);
}

NicDevice::~NicDevice() {
  if (metrics_ != nullptr) metrics_->remove(*this);
  if (node_ != nullptr) node_->stop();
  progress_.stop();
  profiles_->unlisten(this);
}

Result<std::shared_ptr<NicDevice>> NicDevice::open(const DeviceConfig& config,
                                                   const DeviceSettings& settings) {
  std::shared_ptr<NicDevice> device(new NicDevice(config, settings));
  if (auto opened = device->open_ports(); !opened) return opened.error();
  device->nic_ = std::make_unique<nic::Nic>(device->nic_config());
  datapath::DriverSettings driving;
  driving.wire = settings.wire;
  driving.wire.udp_port = settings.udp_port;
  driving.wire.check_icrc = driving.wire.emit_icrc = settings.icrc;
  std::vector<port::Port*> ports;
  for (const auto& port : device->ports_) ports.push_back(port.get());
  device->driver_ = std::make_unique<datapath::Driver>(*device->nic_, ports, driving);
  if (auto watch = AddressWatch::open()) device->addresses_ = std::move(*watch);
  device->join_node();
  device->progress_.start();  // also without a QP: other processes may ask for the shared sockets
  return device;
}

Status NicDevice::open_ports() {
  if (settings_.port == PortKind::udp) {
    port::SeatOptions seating{.udp_port = settings_.udp_port};
    if (settings_.is_node) {
      seating.endpoint = port::EndpointRole::insist;
      seating.serve_all_users = ::geteuid() == 0;
    }
    auto seat = port::Seat::take(seating);
    if (!seat) return seat.error();
    seat_ = std::move(*seat);
  }
  for (const PortConfig& port : config_.ports) {
    auto opened = open_port(port, settings_, static_cast<std::uint32_t>(config_.ports.size()), seat_);
    if (!opened) return opened.error();
    ports_.push_back(std::move(*opened));
  }
  return Done{};
}

bool NicDevice::encapsulates() const {
  return std::all_of(ports_.begin(), ports_.end(),
                     [](const auto& port) { return port->capabilities().outer_ip; });
}

nic::NicConfig NicDevice::nic_config() {
  nic::NicConfig config;
  config.limits.qps = limits_.max_qp;
  config.limits.regions = limits_.max_mr;
  config.limits.packets_in_flight = settings_.packets_in_flight;
  config.limits.endpoint_replies = config.limits.endpoint_requests = 256;
  if (seat_ != nullptr) {  // several processes at one UDP port: answers are steered by the id that they echo
    const auto ids = seat_->steering().request_ids_of(seat_->index());
    config.endpoint.first_id = ids.first;
    config.endpoint.id_mask = ids.mask;
  }
  // mrcd answers for processes whose peers it does not know; they hear by themselves what was said.
  config.endpoint.port_status_from_strangers = settings_.is_node;
  config.ports = PortMask::first(static_cast<int>(ports_.size()));
  const port::QpnRange range = ports_.front()->qpns();
  config.qpns = {range.first, range.last, static_cast<std::uint32_t>(random_word())};
  config.paths = make_auto_paths();
  config.scheduler = settings_.scheduler;
  config.probes = settings_.probes;
  config.congestion = this;
  config.observer = this;
  config.key_secret = {random_word(), random_word()};
  config.seed = random_word();
  return config;
}

/// The provider's own EVs: as many for each port. Over IPv6 the flow label tells them apart, and few source
/// ports do.
nic::PathTable NicDevice::make_auto_paths() {
  constexpr std::uint32_t kPortsWithLabels = 8;
  std::vector<engine::Path> paths;
  const std::size_t each = std::max<std::size_t>(1, settings_.evs / ports_.size());
  std::uint32_t source = settings_.first_source_port;
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const bool labels = ports_[p]->capabilities().flow_label && !ports_[p]->local().is_v4();
    const std::uint32_t first = source;
    for (std::size_t made = 0; made < each && source <= settings_.last_source_port;) {
      const std::uint32_t label = labels ? static_cast<std::uint32_t>(made / kPortsWithLabels + 1) : 0;
      if (labels && source - first == kPortsWithLabels) source = first;
      const auto number = static_cast<std::uint16_t>(source++);
      if (ports_[p]->prepare_source_port(number) != 0) {
        if (labels && source - first == kPortsWithLabels) break;
        continue;
      }
      paths.push_back({Ev(label << 16 | number), PortId(static_cast<std::uint8_t>(p + 1))});
      ++made;
    }
    source = first + static_cast<std::uint32_t>(labels ? kPortsWithLabels : each);
  }
  return std::make_shared<const std::vector<engine::Path>>(std::move(paths));
}

std::unique_ptr<engine::Congestion> NicDevice::make(const nic::CongestionRequest& request) {
  const auto named = cc_profiles_.find(request.cc_profile);
  if (request.cc_profile != 0 && named != cc_profiles_.end()) {
    if (auto made = engine::make_congestion(named->second, request.hints, request.seed))
      return std::move(*made);
  }
  engine::LinkFacts facts;
  facts.mtu = engine::cc_bytes_max(request.path_mtu);
  engine::CcProfile profile = engine::CcProfile::defaults(facts);
  profile.algorithm = settings_.cc;
  profile.nscc.learn_base_rtt = settings_.learn_base_rtt;
  if (settings_.learn_base_rtt)
    profile.nscc.learn_queue = static_cast<std::uint32_t>(settings_.learn_queue.count());
  // A share below the floor would be paced by round trips of a host that is late, not of a queue that is
  // long.
  if (settings_.learn_base_rtt) profile.nscc.pace_below_mtu = false;
  profile.nscc.least_window = settings_.least_window;
  if (settings_.cc == engine::CcAlgorithm::constant) profile.nscc.max_cwnd = settings_.cc_window;
  auto made = engine::make_congestion(profile, request.hints, request.seed);
  MRC_CHECK(made);
  return std::move(*made);
}

// The planes of a device differ in the same address bits at both ends: what tells our port `by` from our port
// p tells the peer's likewise.
std::vector<nic::Gid> NicDevice::peer_addresses(const Gid& remote, PortId by) const {
  std::vector<nic::Gid> out;
  const Gid& ours = config_.ports[by.value - 1u].address;
  for (const PortConfig& port : config_.ports) {
    nic::Gid gid;
    for (std::size_t i = 0; i < remote.size(); ++i) gid.bytes[i] = remote[i] ^ ours[i] ^ port.address[i];
    out.push_back(gid);
  }
  return out;
}

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
      driver_->set_port_address(now, port.id, change.added);
    } else if (port.interface.index != change.interface) {
      continue;
    }
    note({.kind = Notice::Kind::gids, .port = port.id});
  }
}

void NicDevice::follow_addresses(Time now) {
  constexpr Duration kInterval = 5ms;
  if (!addresses_ || now < next_address_look_) return;
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

void NicDevice::forget(const void* who) {
  std::erase_if(notices_, [who](const Notice& n) { return n.who == who; });
}

void NicDevice::tell() {
  if (!has_notices_.load(std::memory_order_acquire)) return;
  const std::lock_guard telling(tell_mutex_);
  {
    const std::lock_guard lock(mutex_);
    telling_.swap(notices_);
    has_notices_.store(false, std::memory_order_relaxed);
  }
  for (const Notice& notice : telling_) tell_one(notice);
  telling_.clear();
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
