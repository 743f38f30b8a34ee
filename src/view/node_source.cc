#include "view/node_source.h"

#include <algorithm>

namespace mrc::view {
namespace {

using node::AddressBytes;
using node::PortFacts;
using node::Snapshot;

std::vector<const PortFacts*> ports_of(const Snapshot& s) {
  std::vector<const PortFacts*> out;
  for (const node::DeviceFacts& d : s.devices) {
    for (const PortFacts& port : d.ports) out.push_back(&port);
  }
  return out;
}

std::vector<std::string> names_of(const Snapshot& s) {
  std::vector<std::string> out;
  for (const node::DeviceFacts& d : s.devices) {
    for (const PortFacts& port : d.ports)
      out.push_back(d.name + " port " + std::to_string(port.port.value) + " (" + port.interface + ")");
  }
  return out;
}

/// One switch per port, with room for peers.
Result<topo::Topology> star_of(const Snapshot& s) {
  const auto ports = ports_of(s);
  if (ports.empty()) return Error{ENODEV, "mrcd has no device: start it with --devices, or start a program"};
  topo::Spec spec{.planes = static_cast<std::uint32_t>(ports.size()), .tiers = 1, .t0 = 1};
  spec.hosts_per_t0 = NodeSource::kPlaces;
  if (ports[0]->bits_per_second > 0) spec.host_link.bits_per_second = ports[0]->bits_per_second;
  return topo::Topology::make(spec);
}

/// Of a device's first port, where every port is a plane.
std::uint32_t first_plane(const std::vector<node::DeviceFacts>& devices, const std::string& name) {
  std::uint32_t plane = 0;
  for (const node::DeviceFacts& d : devices) {
    if (d.name == name) return plane;
    plane += static_cast<std::uint32_t>(d.ports.size());
  }
  return plane;
}

double rate_of(std::uint64_t bytes, std::int64_t span_ns) {
  return span_ns > 0 ? static_cast<double>(bytes) * 8e9 / static_cast<double>(span_ns) : 0;
}

}  // namespace

Result<std::unique_ptr<NodeSource>> NodeSource::attach(const NodeSettings& settings) {
  auto client = node::DaemonClient::open(settings.socket);
  if (!client) return Error{client.error().code, client.error().what + "; is mrcd running?"};
  auto first = client->snapshot(false);
  if (!first) return first.error();
  auto topo = settings.fabric ? Result<topo::Topology>(*settings.fabric) : star_of(*first);
  if (!topo) return topo.error();
  std::unique_ptr<NodeSource> out(new NodeSource(std::move(*client), *topo, settings));
  if (auto settled = out->settle(*first); !settled) return settled.error();
  return out;
}

NodeSource::NodeSource(node::DaemonClient client, const topo::Topology& topo, const NodeSettings& settings)
    : settings_(settings), topo_(topo), client_(std::move(client)), ports_(topo.planes()) {}

/// Which host of the fabric this is.
Status NodeSource::settle(const Snapshot& first) {
  fabric_ = {"node " + first.host, "node", topo_.spec(), false, false, {}};
  if (!settings_.fabric) return fabric_.plane_names = names_of(first), Done{};
  for (const PortFacts* port : ports_of(first)) {
    const auto at = topo_.host_at(Ipv6{port->address});
    if (at) return host_ = at->host.value, Done{};
  }
  return Error{ENOENT,
               "no port of this node has an address of that fabric; without the file it is drawn alone"};
}

NodeSource::~NodeSource() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void NodeSource::start(Sink sink) {
  sink_ = std::move(sink);
  thread_ = std::thread([this] { work(); });
}

void NodeSource::work() {
  using Clock = std::chrono::steady_clock;
  const auto began = Clock::now();
  for (std::uint64_t number = 0;; ++number) {
    const auto now = Clock::now();
    Frame f;
    f.number = number;
    f.time_ns = std::chrono::nanoseconds(now - began).count();
    f.done = !take(f);
    sink_(to_json(f, topo_));
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, now + settings_.every, [&] { return ending_; });
    if (ending_ || f.done) return;
  }
}

/// False: mrcd is gone.
bool NodeSource::take(Frame& f) {
  auto s = client_.snapshot(true);
  if (!s) return f.happenings.push_back({f.time_ns, "phase", s.error().what, {}}), false;
  f.span_ns = last_ns_ == 0 ? 0 : static_cast<std::int64_t>(s->time_ns - last_ns_);
  last_ns_ = s->time_ns;
  look_at_ports(*s, f);
  std::uint64_t sent = 0;
  for (const node::DeviceFacts& d : s->devices) {
    sent += d.totals.tx_bytes;
    f.totals.delivered += d.totals.rx_bytes;
    f.totals.trims += d.totals.trims;
    f.totals.marks += d.totals.marks;
  }
  f.totals.goodput = sent_ == 0 || sent < sent_ ? 0 : rate_of(sent - sent_, f.span_ns);
  sent_ = sent;
  const std::vector<node::DeviceFacts> devices = s->devices;
  const auto ev_at = [&](const node::ProcessFacts& process, const node::EvFacts& ev) -> std::optional<Ev> {
    if (settings_.fabric) return {};
    const std::uint32_t plane = first_plane(devices, process.device) + ev.port.value - 1;
    return plane < topo_.planes() ? std::optional(topo_.ev({plane, 0, 0})) : std::nullopt;
  };
  const auto name_peers = [&] {
    if (settings_.fabric) return;
    if (f.names.empty()) f.names.push_back({0, "this node"});
    for (auto i = static_cast<std::uint32_t>(f.names.size()); i <= peers_.size(); ++i)
      f.names.push_back({i, node::address_text(peers_[i - 1])});
  };
  name_peers();
  const auto host_at = [&](const AddressBytes& a) {
    const auto place = place_of(a);
    name_peers();  // it may be a new one
    return place;
  };
  frames_.take(std::move(*s), host_, host_at, ev_at, f);
  return true;
}

void NodeSource::look_at_ports(const Snapshot& s, Frame& f) {
  f.load.resize(2 * std::size_t{topo_.links()});
  f.plane_rate.resize(topo_.planes());
  const auto ports = ports_of(s);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto at = settings_.fabric ? topo_.host_at(Ipv6{ports[i]->address}) : std::nullopt;
    if (settings_.fabric && (!at || at->host.value != host_)) continue;
    const std::size_t plane =
        at ? at->plane : i;  // a device that came later has no place: begin again to see it
    if (plane < topo_.planes()) look_at_port(*ports[i], static_cast<topo::Plane>(plane), f);
  }
}

void NodeSource::look_at_port(const PortFacts& port, topo::Plane plane, Frame& f) {
  PortBefore& b = ports_[plane];
  const auto hop = topo_.hop_from({topo::host_node(topo::HostId(host_)), plane});
  if (!hop) return;
  const std::uint32_t up = hop->index() & ~1u;
  const std::uint64_t tx = port.counters.tx_bytes, rx = port.counters.rx_bytes;
  if (b.known) {
    const double sent = rate_of(tx - std::min(tx, b.tx), f.span_ns);
    const double received = rate_of(rx - std::min(rx, b.rx), f.span_ns);
    const auto most = static_cast<double>(
        port.bits_per_second > 0 ? port.bits_per_second : topo_.link_spec(hop->link).bits_per_second);
    f.load[up] = to_level(sent / most);
    f.load[up + 1] = to_level(received / most);
    f.plane_rate[plane] = sent + received;
  }
  const bool works = port.link_up && port.admin_enabled;
  if (!works) f.faults.push_back({up}), f.faults.push_back({up + 1});
  if (works != b.up) {
    const std::string name = topo_.name(topo::LinkId(up / 2));
    const char* what = works ? "works again" : !port.link_up ? "down" : "disabled by a controller";
    f.happenings.push_back({f.time_ns, "link", name + " (" + port.interface + "): " + what, name});
  }
  b = {tx, rx, works, true};
}

std::optional<std::uint32_t> NodeSource::place_of(const AddressBytes& address) {
  if (settings_.fabric) {
    const auto at = topo_.host_at(Ipv6{address});
    return at ? std::optional(at->host.value) : std::nullopt;
  }
  const auto known = std::find(peers_.begin(), peers_.end(), address);
  if (known != peers_.end()) return static_cast<std::uint32_t>(known - peers_.begin()) + 1;
  if (peers_.size() + 1 == kPlaces) return kPlaces - 1;  // the last place is everybody else's
  peers_.push_back(address);
  return static_cast<std::uint32_t>(peers_.size());
}

Status NodeSource::act(const Action& a) {
  if (a.verb == Action::Verb::focus) return Done{};
  return Error{EROFS, "a node is looked at here, not changed; `mrc ctl ports down PORT` disables a port"};
}

}  // namespace mrc::view
