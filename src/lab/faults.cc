#include "lab/faults.h"

#include <cerrno>
#include <utility>

#include "lab/soft_nodes.h"

namespace mrc::lab {

using topo::Attachment;

Faults::Faults(const Wiring& wiring) : wiring_(wiring), topo_(wiring.topology()) {
  for (std::uint32_t l = 0; l < topo_.links(); ++l) {
    const topo::Ends ends = topo_.ends(topo::LinkId(l));
    ends_[ends.lower] = ends_[ends.upper] = End{};
  }
}

std::uint64_t Faults::nominal_rate(const Attachment& end) const {
  const std::uint64_t rate = topo_.link_spec(*topo_.link_at(end)).bits_per_second;
  return rate < wiring_.settings().shape_below ? rate : 0;
}

Status Faults::set_up() {
  for (auto& [at, end] : ends_) {
    Messages out;
    add_hooks(out, interface_index(at.port));
    if (auto done = apply(wiring_.netlink(at.node), out.take(),
                          "filters (the kernel needs clsact: CONFIG_NET_SCH_INGRESS)");
        !done)
      return done;
    if (auto done = set_rate(at, nominal_rate(at)); !done) return done;
    settle(at);
  }
  return Done{};
}

/// Both ends of the cable know whether it works.
void Faults::settle(const Attachment& at) const {
  const Attachment other = *topo_.peer(at);
  for (const Attachment& end : {at, other}) settle_carrier(wiring_.netlink(end.node), topo_.port_name(end));
}

std::set<std::uint32_t> Faults::down_ports(topo::Node node) const {
  std::set<std::uint32_t> down;
  for (auto at = ends_.lower_bound({node, 0}); at != ends_.end() && at->first.node == node; ++at) {
    if (at->second.down) down.insert(at->first.port);
  }
  return down;
}

Status Faults::set_down(const std::vector<Attachment>& ends, bool down) {
  std::set<topo::Node> nodes;
  std::vector<Attachment> changed;
  for (const Attachment& at : ends) {
    if (ends_[at].down == down) continue;
    ends_[at].down = down;
    nodes.insert(at.node);
    changed.push_back(at);
    if (!down) continue;  // the whole node is configured again below
    Messages out;
    set_link(out, interface_index(at.port), false);
    if (auto done = apply(wiring_.netlink(at.node), out.take(), "take down an interface"); !done) return done;
  }
  for (const topo::Node node : nodes) {
    if (down) break;
    if (auto done = wiring_.configure(node, down_ports(node)); !done) return done;
  }
  for (const Attachment& at : changed) settle(at);
  return Done{};
}

Status Faults::set_loss(const Attachment& at, double probability) {
  End& end = ends_[at];
  if (end.loss == probability) return Done{};
  const bool had_one = std::exchange(end.loss, probability) > 0;
  const Attachment sender = *topo_.peer(at);
  if (wiring_.is_soft(at.node) && wiring_.is_soft(sender.node))
    return tell(sender, "loss " + topo_.port_name(sender) + " " + std::to_string(probability));
  // A switch of ours sees frames before the kernel's filters do: its kernel neighbour swallows them instead.
  const Way way = wiring_.is_soft(at.node) ? Way::departures : Way::arrivals;
  const Attachment& where = wiring_.is_soft(at.node) ? sender : at;
  Messages out;
  lab::set_loss(out, interface_index(where.port), way, probability, had_one);
  return apply(wiring_.netlink(where.node), out.take(),
               "drop packets (the kernel needs CONFIG_NET_CLS_BPF and CONFIG_NET_CLS_ACT)");
}

Status Faults::tell(const Attachment& at, const std::string& line) {
  const auto told = tell_node(wiring_, at.node, line);
  return told ? Status(Done{}) : told.error();
}

Status Faults::set_rate(const Attachment& at, std::uint64_t bits_per_second) {
  End& end = ends_[at];
  if (end.rate == bits_per_second) return Done{};
  const bool had_one = std::exchange(end.rate, bits_per_second) != 0;
  if (wiring_.is_soft(at.node))
    return tell(at, "rate " + topo_.port_name(at) + " " +
                        (bits_per_second != 0 ? topo::rate_text(bits_per_second) : "default"));
  Messages out;
  lab::set_rate(out, interface_index(at.port), bits_per_second, had_one, wiring_.settings().shaping);
  return apply(wiring_.netlink(at.node), out.take(), "limit a rate (the kernel needs CONFIG_NET_SCH_TBF)");
}

Status Faults::fail(const Target& target, How how) {
  if (how == How::silent || target.one_way) return drop(target, 1);
  return set_down(target.ends, true);
}

Status Faults::drop(const Target& target, double probability) {
  if (!(probability >= 0 && probability <= 1))
    return Error{EINVAL, "a share of packets is a number from 0 to 1, such as 0.01"};
  for (const Attachment& at : target.receivers) {
    if (auto done = set_loss(at, probability); !done) return done;
  }
  return Done{};
}

Status Faults::rate(const Target& target, std::uint64_t bits_per_second) {
  for (const Attachment& at : target.senders) {
    if (auto done = set_rate(at, bits_per_second); !done) return done;
  }
  return Done{};
}

Status Faults::heal(const Target& target) {
  if (auto done = drop(target, 0); !done) return done;
  for (const Attachment& at : target.senders) {
    if (auto done = set_rate(at, nominal_rate(at)); !done) return done;
  }
  // A cable is whole when both its ends are: a fault of a switch may have taken down the other one.
  return target.one_way ? Status(Done{}) : set_down(target.senders, false);
}

Status Faults::heal_all() {
  Target all;
  for (const auto& [at, end] : ends_) {
    all.senders.push_back(at);
    all.receivers.push_back(at);
  }
  return heal(all);
}

std::vector<std::pair<Attachment, Faults::End>> Faults::broken() const {
  std::vector<std::pair<Attachment, End>> out;
  for (const auto& [at, end] : ends_) {
    if (end.down || end.loss > 0 || end.rate != nominal_rate(at)) out.emplace_back(at, end);
  }
  return out;
}

}  // namespace mrc::lab
