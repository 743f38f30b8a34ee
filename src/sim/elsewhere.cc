#include "sim/elsewhere.h"

#include <cstring>
#include <type_traits>

namespace mrc::sim {
namespace {

/// Values and vectors of values, one behind the other. Both ends are the same program.
class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* p = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof value);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    const auto* p = reinterpret_cast<const std::byte*>(values.data());
    bytes.insert(bytes.end(), p, p + values.size() * sizeof(T));
  }
  Ranks::Bytes bytes;
};

class Reader {
 public:
  explicit Reader(const Ranks::Bytes& bytes) : bytes_(bytes) {}
  bool more() const { return at_ < bytes_.size(); }
  template <class T>
  T get() {
    T value;
    std::memcpy(static_cast<void*>(&value), bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    std::vector<T> values(get<std::size_t>());
    std::memcpy(static_cast<void*>(values.data()), bytes_.data() + at_, values.size() * sizeof(T));
    at_ += values.size() * sizeof(T);
    return values;
  }

 private:
  const Ranks::Bytes& bytes_;
  std::size_t at_ = 0;
};

struct LinkFigures {
  std::uint32_t hop = 0;
  fabric::LinkState state = fabric::LinkState::up;
  std::uint64_t rate = 0;
  fabric::LinkCounters counters;
};

LinkFigures figures(std::uint32_t hop, const fabric::Link& link) {
  return {hop, link.state(), link.rate().bits_per_second(), link.counters()};
}

}  // namespace

Elsewhere::Elsewhere(const topo::Topology& topo, const LinkPlan& plan, Ranks& ranks,
                     const std::vector<std::unique_ptr<ProgramHost>>& hosts,
                     const std::vector<std::unique_ptr<SwitchNode>>& switches, Workload& workload) {
  Writer out;
  if (ranks.rank() != 0) {
    std::uint64_t count = 0;
    for (const auto& host : hosts) count += host != nullptr;
    out.put(count);
    std::vector<LinkFigures> links;
    for (Host h = 0; h < hosts.size(); ++h) {
      if (hosts[h] == nullptr) continue;
      out.put(h);
      out.put(hosts[h]->log().sent);
      out.put(hosts[h]->log().received);
      out.put(hosts[h]->qp_counts());
      out.put(workload.takes_part(h) ? workload.standing(h) : std::vector<std::uint64_t>());
      for (topo::Plane p = 0; p < topo.planes(); ++p)
        links.push_back(
            figures(wire_from(topo, {topo::host_node(topo::HostId(h)), p}).hop, hosts[h]->port(p)));
    }
    for (const auto& sw : switches) {
      for (std::uint16_t p = 0; sw != nullptr && p < sw->object().ports(); ++p) {
        if (sw->wire(p).connected) links.push_back(figures(sw->wire(p).hop, sw->object().port(p)));
      }
    }
    out.put(links);
  }
  const auto all = ranks.gather(out.bytes);
  for (std::size_t r = 1; r < all.size(); ++r) take(all[r], topo, plan, workload);
}

void Elsewhere::take(const Ranks::Bytes& bytes, const topo::Topology& topo, const LinkPlan& plan,
                     Workload& workload) {
  Reader in(bytes);
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) {
    const Host host = in.get<Host>();
    HostLog& log = logs_[host];
    log.sent = in.get_all<SentRecord>();
    log.received = in.get_all<ReceivedRecord>();
    qps_[host] = in.get_all<QpCount>();
    const auto standing = in.get_all<std::uint64_t>();
    if (workload.takes_part(host)) workload.adopt(host, standing);
  }
  for (const LinkFigures& f : in.get_all<LinkFigures>()) {
    const topo::Hop hop = topo::hop_at(f.hop);
    fabric::Link link(plan.of(topo.kind(hop.link), hop.direction));
    link.adopt(f.counters, fabric::Rate::bits_per_second(f.rate), f.state);
    links_.emplace(f.hop, link);
  }
}

}  // namespace mrc::sim
