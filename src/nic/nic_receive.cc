// One packet arrives: whose is it, may it, and where do its bytes go.
#include <cstring>

#include "nic/nic.h"

namespace mrc::nic {
namespace {

using engine::QpState;

/// The region table as one QP's peer sees it; remembers where the accepted bytes go.
class RemoteMemory final : public engine::Memory {
 public:
  RemoteMemory(const RegionTable& regions, const Qp& qp) : regions_(regions), qp_(qp) {}
  Access check(RKey rkey, std::uint64_t va, std::uint32_t length) override {
    // MRC-NIC-009: the QP's own access flags come before those of the region.
    if (!qp_.remote_write) return Access::no_access;
    return regions_.check_remote(qp_.made.pd, rkey, va, length, place);
  }
  std::byte* place = nullptr;

 private:
  const RegionTable& regions_;
  const Qp& qp_;
};

/// InfiniBand's rule: the same partition, and at least one of the two is a full member.
bool pkeys_match(std::uint16_t a, std::uint16_t b) {
  return ((a ^ b) & 0x7FFF) == 0 && ((a | b) & 0x8000) != 0;
}

}  // namespace

Verdict Nic::handle(Time now, const wire::Packet& packet, const wire::Envelope& envelope, const Gid& source,
                    std::span<const std::byte> payload) {
  const Verdict verdict = packet.dqpn == kEndpointQpn ? deliver_endpoint(now, packet, envelope, source)
                                                      : deliver(now, packet, envelope, source, payload);
  verdicts_.add(verdict);
  return verdict;
}

Verdict Nic::deliver(Time now, const wire::Packet& packet, const wire::Envelope& envelope, const Gid& source,
                     std::span<const std::byte> payload) {
  Qp* qp = qps_.find(packet.dqpn);
  if (qp == nullptr) return Verdict::unknown_qp;
  if (!qp->engine) return Verdict::wrong_state;
  // MRC-NIC-010: a packet from anyone but the peer touches nothing, whatever numbers it guessed.
  if (!qp->peer->owns(source)) return Verdict::wrong_peer;
  if (!pkeys_match(packet.pkey, qp->pkey)) return Verdict::bad_pkey;
  const auto* write = std::get_if<wire::Write>(&packet.body);
  if (write != nullptr && !payload.empty() && payload.size() != write->payload) return Verdict::bad_length;

  RemoteMemory memory(regions_, *qp);
  const Verdict verdict = qp->engine->handle_packet(now, packet, envelope, memory);
  if (verdict == Verdict::ok && write != nullptr && memory.place != nullptr && !payload.empty()) {
    // Before settle(): a completion never tells of bytes that are not there yet.
    std::memcpy(memory.place, payload.data(), payload.size());
  }
  const auto* sack = std::get_if<wire::Sack>(&packet.body);
  if (verdict == Verdict::ok && sack != nullptr && sack->probe_reply) probe_budget_.note_answered();
  if (verdict == Verdict::ok && !qp->heard) {
    qp->heard = true;
    if (qp->state == QpState::rtr) observer_.on_established(*qp);
  }
  touch(*qp);
  return verdict;
}

Verdict Nic::deliver_endpoint(Time now, const wire::Packet& packet, const wire::Envelope& envelope,
                              const Gid& source) {
  if (const auto* request = std::get_if<wire::EndpointRequest>(&packet.body)) {
    // MRC-NIC-012: only a peer can tell of its ports; from others it is refused and not even answered.
    if (request->op == wire::EndpointOp::port_status_update &&
        !note_peer_ports(now, source, request->port_status) && !endpoint_.takes_strangers_port_status())
      return Verdict::wrong_peer;
    return endpoint_.handle_request(now, packet, envelope, source);
  }
  if (!std::holds_alternative<wire::EndpointResponse>(packet.body)) return Verdict::bad_field;
  EndpointResult result;
  const Verdict verdict =
      endpoint_.handle_response(now, packet, envelope, source, peers_.find(source), result);
  if (result.answered) observer_.on_endpoint_result(result);
  return verdict;
}

/// MRC-NODE-007: who read it refuses a stranger's word, and our peers are strangers to him. So we answer them
/// too; an answer more is stale at the peer and does no harm.
void Nic::overhear(Time now, const wire::Packet& packet, const wire::Envelope& envelope, const Gid& source,
                   bool answered) {
  const auto* request = std::get_if<wire::EndpointRequest>(&packet.body);
  if (request == nullptr || request->op != wire::EndpointOp::port_status_update) return;
  if (note_peer_ports(now, source, request->port_status) && !answered)
    endpoint_.handle_request(now, packet, envelope, source);
}

}  // namespace mrc::nic
