#include "tools/conversation.h"

#include <cerrno>
#include <map>
#include <tuple>
#include <vector>

#include "tools/text.h"

namespace mrc::tools {
namespace {

using wire::IpAddress;

/// Packets alike in who sent them to whom: all that finding a conversation needs of a capture.
struct Flow {
  IpAddress source, destination;
  Qpn dqpn;
  std::optional<std::uint16_t> sender;
  auto operator<=>(const Flow&) const = default;
};

struct Flows {
  std::vector<Flow> in_order;  // of first appearance
  std::map<Flow, std::uint64_t> packets;

  void note(const SeenPacket& seen) {
    const Flow flow{seen.parsed.datagram.source, seen.parsed.datagram.destination, seen.parsed.packet.dqpn,
                    sender_low_bits(seen.parsed.packet)};
    if (++packets[flow] == 1) in_order.push_back(flow);
  }
};

Result<Flows> read_flows(const std::string& path, const wire::Settings& settings) {
  auto reader = CaptureReader::open(path);
  if (!reader) return reader.error();
  Flows flows;
  CapturedFrame frame{};
  while (reader->read(frame) == CaptureReader::Next::frame) {
    see_packets(frame, reader->link(), settings, [&](const SeenPacket& seen) {
      if (!is_foreign(seen) && names_packet(seen)) flows.note(seen);
    });
  }
  return flows;
}

std::uint16_t low_bits(Qpn qp) { return static_cast<std::uint16_t>(qp.value); }

/// Low bits of the queue pair that talks with `qp` at `address`.
std::optional<std::uint16_t> peer_low_bits(const Flows& flows, Qpn qp, const IpAddress& address) {
  for (const Flow& f : flows.in_order) {
    if (f.dqpn == qp && f.destination == address && f.sender) return f.sender;
    if (f.source == address && f.sender == low_bits(qp)) return low_bits(f.dqpn);
  }
  return std::nullopt;
}

/// The peer's whole number: something that `address` sends to has those low bits, else nothing more is known.
Qpn whole_number(const Flows& flows, std::uint16_t low, const IpAddress& address) {
  for (const Flow& f : flows.in_order) {
    if (f.source == address && low_bits(f.dqpn) == low) return f.dqpn;
  }
  return Qpn(low);
}

/// Other addresses at which the number appears: the same queue pair in another plane if it has the same peer,
/// otherwise another host's. Where both ends have the same number nothing can tell them apart.
void sort_other_addresses(const Flows& flows, Conversation& found, const IpAddress& anchor) {
  for (const Flow& f : flows.in_order) {
    if (f.dqpn != found.qp || f.destination == anchor) continue;
    const auto peer = peer_low_bits(flows, found.qp, f.destination);
    const bool same_peer = found.peer && peer && *peer == low_bits(*found.peer);
    const bool is_peer = found.peer == found.qp;
    if (same_peer && !is_peer) {
      found.addresses.insert(f.destination);
    } else if (!is_peer || !flows.packets.contains({anchor, f.destination, f.dqpn, f.sender})) {
      found.elsewhere.insert(f.destination);
    }
  }
}

}  // namespace

std::optional<std::uint16_t> sender_low_bits(const wire::Packet& packet) {
  if (const auto* s = std::get_if<wire::Sack>(&packet.body)) return s->dpdcid;
  if (const auto* n = std::get_if<wire::Nack>(&packet.body)) return n->dpdcid;
  if (const auto* p = std::get_if<wire::Probe>(&packet.body)) return p->spdcid;
  return std::nullopt;
}

Conversation::Way Conversation::way_of(const SeenPacket& seen) const {
  if (is_foreign(seen) || !names_packet(seen)) return Way::none;
  const wire::Packet& packet = seen.parsed.packet;
  if (packet.dqpn == qp && addresses.contains(seen.parsed.datagram.destination)) return Way::to_qp;
  if (packet.dqpn == peer && addresses.contains(seen.parsed.datagram.source)) return Way::to_peer;
  return Way::none;
}

Result<Conversation> find_conversation(const std::string& path, const wire::Settings& settings, Qpn qp,
                                       std::optional<wire::IpAddress> address) {
  const Result<Flows> flows = read_flows(path, settings);
  if (!flows) return flows.error();
  for (const Flow& f : flows->in_order) {
    if (f.dqpn != qp || (address && f.destination != *address)) continue;
    Conversation found{qp, {f.destination}, std::nullopt, {}};
    if (const auto low = peer_low_bits(*flows, qp, f.destination)) {
      found.peer = whole_number(*flows, *low, f.destination);
    }
    if (!address) sort_other_addresses(*flows, found, f.destination);
    return found;
  }
  return Error{ENOENT, "no packet goes to queue pair " + hex(qp.value) +
                           (address ? " at " + to_string(*address) : std::string()) +
                           "; `mrc dump` without --follow shows which there are"};
}

}  // namespace mrc::tools
