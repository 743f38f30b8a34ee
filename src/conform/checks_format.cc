// What any packet of a device looks like: checksums, reserved bits, classes, PSNs, endpoint answers.
#include <algorithm>

#include "conform/phrases.h"
#include "wire/icrc.h"

namespace mrc::conform {
namespace {

using wire::TrafficClass;

/// Anything within the quiet time but a question of the device's own.
bool answered(Bench& b) {
  const auto all = b.collect(b.settings().quiet);
  return std::any_of(all.begin(), all.end(), [](const Heard& h) { return h.as<wire::Probe>() == nullptr; });
}

/// Answers of all kinds: SACK, NACK and Transport ACK.
std::vector<Heard> answers(Bench& b) {
  b.write({.psn = 0, .ack_request = true, .rtx = true});
  b.write({.psn = 1, .traffic_class = TrafficClass::trimmed});
  b.probe(7);
  auto all = b.collect(b.settings().quiet);
  std::erase_if(all,
                [](const Heard& h) { return h.as<wire::Probe>() != nullptr; });  // it may ask its own paths
  return all;
}

Outcome icrc_of_answers(Bench& b) {
  const auto all = answers(b);
  for (const Heard& heard : all) {
    if (heard.verdict == Verdict::bad_icrc) return unexpected("a valid iCRC", heard);
  }
  return all.empty() ? nothing_came("answer") : pass();
}

Outcome icrc_is_checked(Bench& b) {
  const auto before = b.memory(0, 64);
  b.write({.ack_request = true, .fill = static_cast<std::uint8_t>(before[0] + 1)},
          [](auto& bytes, auto&) { bytes.back() ^= 0x40; });
  if (answered(b)) return fail("a packet with a wrong iCRC was answered");
  return b.memory(0, 64) == before ? pass() : fail("a packet with a wrong iCRC was placed");
}

Outcome reserved_bits(Bench& b) {
  const auto all = answers(b);
  for (const Heard& heard : all) {
    const auto& p = heard.bytes;
    if (p.size() < 12 || p[4] != 0 || (p[8] & 0x4F) != 0)
      return unexpected("zero in the reserved bits of BTH", heard);
    const bool sack = heard.as<wire::Sack>() != nullptr && p.size() >= 48;
    if (sack && ((p[13] & 0x1D) != 0 || p[24] != 0 || (p[42] & 0x80) != 0)) {
      return unexpected("zero in the reserved bits of SETH", heard);
    }
  }
  return all.empty() ? nothing_came("answer") : pass();
}

/// A write that is wrong in its BTH, with an iCRC that is right: it must touch nothing, and the QP goes on.
Outcome refused_in_silence(Bench& b, const std::string& what, void (*spoil)(std::vector<std::uint8_t>&)) {
  const auto before = b.memory(0, 64);
  b.write({.ack_request = true, .fill = static_cast<std::uint8_t>(before[0] + 1)},
          [spoil](auto& bytes, auto& around) {
            spoil(bytes);
            wire::icrc_of(around, bytes).store(bytes.data() + bytes.size() - wire::kIcrcSize);
          });
  if (answered(b)) return fail(what + " was answered");
  if (b.memory(0, 64) != before) return fail(what + " was placed");
  return b.any_sack() ? pass() : fail("after " + what + " the QP is silent");
}
Outcome unknown_opcode(Bench& b) {
  return refused_in_silence(b, "a packet of opcode 0xC0",
                            [](std::vector<std::uint8_t>& bytes) { bytes[0] = 0xC0; });
}
Outcome other_version(Bench& b) {
  return refused_in_silence(b, "a packet of transport version 1",
                            [](std::vector<std::uint8_t>& bytes) { bytes[1] |= 1; });
}

Outcome control_class(Bench& b) {
  const auto all = answers(b);
  for (const Heard& heard : all) {
    if (heard.parsed.envelope.traffic_class != TrafficClass::control)
      return unexpected("class CONTROL", heard);
  }
  return all.empty() ? nothing_came("answer") : pass();
}

Outcome sack_psn(Bench& b) {
  b.write({.psn = 0});
  const auto heard = b.any_sack();
  if (!heard) return nothing_came("SACK");
  return heard->bth_psn() == heard->as<wire::Sack>()->cack_psn ? pass()
                                                               : unexpected("BTH.PSN = cack_psn", *heard);
}

Outcome nack_psn(Bench& b) {
  b.write({.psn = 3, .traffic_class = TrafficClass::trimmed_lasthop});
  const auto heard = b.await<wire::Nack>();
  if (!heard) return skip("the device sends no NACK; trim_lasthop tells");
  return heard->bth_psn() == heard->as<wire::Nack>()->nack_psn ? pass()
                                                               : unexpected("BTH.PSN = nack_psn", *heard);
}

Outcome endpoint(Bench& b, wire::EndpointOp op, std::uint16_t id) {
  wire::EndpointRequest request{.op = op, .port_status = PortMask::first(1)};
  b.send(request, Psn(id), kEndpointQpn, {.ev = Ev(0xC0A1)});
  const auto heard = b.await<wire::EndpointResponse>();
  if (!heard) return nothing_came("Endpoint Response");
  if (heard->psn().value() != id) return unexpected("request id " + std::to_string(id), *heard);
  return heard->as<wire::EndpointResponse>()->op == op ? pass()
                                                       : unexpected("the operation asked for", *heard);
}
Outcome ev_probe(Bench& b) { return endpoint(b, wire::EndpointOp::ev_probe, 0x0BEE); }
Outcome port_status(Bench& b) { return endpoint(b, wire::EndpointOp::port_status_update, 0x0BEF); }

constexpr Check kChecks[] = {
    {"icrc_of_answers", "MRC-WIRE-040", Role::responder, "answers end with a valid iCRC", icrc_of_answers},
    {"icrc_is_checked",
     "MRC-WIRE-040",
     Role::responder,
     "a packet with a wrong iCRC is neither answered nor placed",
     icrc_is_checked,
     {.memory = true}},
    {"reserved_bits", "MRC-WIRE-015", Role::responder, "reserved bits of answers are zero", reserved_bits},
    {"unknown_opcode",
     "MRC-WIRE-003",
     Role::responder,
     "a packet of no MRC opcode touches nothing",
     unknown_opcode,
     {.memory = true}},
    {"other_version",
     "MRC-WIRE-004",
     Role::responder,
     "a packet of another transport version touches nothing",
     other_version,
     {.memory = true}},
    {"control_class", "MRC-NIC-013", Role::responder, "SACK, NACK and Transport ACK travel in class CONTROL",
     control_class},
    {"sack_psn", "MRC-WIRE-020", Role::responder, "BTH.PSN of a SACK is its cumulative PSN", sack_psn},
    {"nack_psn", "MRC-WIRE-021", Role::responder, "BTH.PSN of a NACK is the PSN that it is about", nack_psn},
    {"ev_probe", "MRC-WIRE-024", Role::responder, "an EV Probe to QP 2 comes back with its request id",
     ev_probe},
    {"port_status", "MRC-NIC-006", Role::responder, "a Port Status Update of the peer is answered",
     port_status},
};

}  // namespace

std::span<const Check> format_checks() { return kChecks; }

}  // namespace mrc::conform
