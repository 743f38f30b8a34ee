// How a device comes to be: its ports, its NIC, the paths and the congestion control that QPs get. What it
// does then is in nic_device_run.cc.
#include <sys/random.h>

#include <algorithm>

#include "lib/nic_device.h"
#include "lib/open_port.h"
#include "node/local_profiles.h"
#include "node/process_metrics.h"
#include "wire/codec.h"

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
                       bool quiet = true;
                       if (addresses_) readable.push_back(addresses_->fd());
                       for (const auto& port : ports_) {
                         quiet &= port->rest();
                         readable.push_back(port->wait_fd());
                         if (port->event_fd() >= 0) readable.push_back(port->event_fd());
                         if (port->tx_blocked_fd() >= 0) writable.push_back(port->tx_blocked_fd());
                       }
                       return quiet;
                     },
                 .attend =
                     [this] {
                       const std::lock_guard lock(mutex_);
                       for (const auto& port : ports_) port->attend();
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
  driving.outbox.unit = settings.spray_unit != 0 ? settings.spray_unit : kMaxSprayUnit;
  driving.wire = settings.wire;
  driving.wire.udp_port = settings.udp_port;
  driving.wire.check_icrc = driving.wire.emit_icrc = settings.icrc;
  std::vector<port::Port*> ports;
  for (const auto& port : device->ports_) ports.push_back(port.get());
  device->driver_ = std::make_unique<datapath::Driver>(*device->nic_, ports, driving);
  if (auto watch = AddressWatch::open()) device->addresses_ = std::move(*watch);
  device->join_node();
  // Also without a QP: other processes may ask for the shared sockets.
  if (auto started = device->progress_.start(); !started) return started.error();
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

std::uint8_t NicDevice::spray_unit(std::uint32_t path_mtu) const {
  if (settings_.spray_unit != 0) return settings_.spray_unit;
  std::uint32_t most = kMaxSprayUnit;
  for (const auto& port : ports_) {
    const port::Capabilities c = port->capabilities();
    most = std::min(
        {most, c.max_train, c.max_train_bytes / (path_mtu + static_cast<std::uint32_t>(wire::kMaxHead))});
  }
  return static_cast<std::uint8_t>(std::max(most, 1u));
}

/// An answer costs whoever gets it a tenth of a train, and a sender asks for one where it needs it: this is
/// only what it may count on.
std::uint32_t NicDevice::sack_bytes(std::uint32_t path_mtu) const {
  if (settings_.sack_bytes != 0) return settings_.sack_bytes;
  return std::max(engine::ResponderSettings{}.sack_bytes, 4 * spray_unit(path_mtu) * path_mtu);
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
    engine::CcProfile profile = named->second;
    engine::complete_nscc(profile.nscc, engine::cc_bytes_max(request.path_mtu));
    if (auto made = engine::make_congestion(profile, request.hints, request.seed)) return std::move(*made);
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

}  // namespace mrc::lib
