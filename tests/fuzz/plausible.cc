#include "plausible.h"

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "wire/print.h"
#include "wire/transport.h"

namespace mrc::fuzz {
namespace {

using namespace wire;

bool inside(Bytes part, Bytes whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

struct CheckBody {
  const Parsed& parsed;

  void operator()(const Write& w) const {
    MRC_CHECK(!w.has_imm || ends(w.segment));
    MRC_CHECK(w.payload == parsed.payload.size());
    MRC_CHECK(w.payload % 4 == 0 || ends(w.segment));
  }
  void operator()(const Sack& s) const {
    MRC_CHECK(s.ooo_count <= 0x7FFF && s.rcvd_bytes <= 0xFFFFFF && s.rcv_cwnd_pen <= 0x7F);
    MRC_CHECK(name(s.mark) != "unknown");
  }
  void operator()(const Nack& n) const { MRC_CHECK(name(n.reason) != "unknown"); }
  void operator()(const TransportAck& a) const {
    MRC_CHECK(a.msn <= 0xFFFFFF && name(a.syndrome) != "unknown");
  }
  void operator()(const Probe&) const {}
  void operator()(const EndpointRequest& r) const { MRC_CHECK(name(r.op) != "unknown"); }
  void operator()(const EndpointResponse& r) const { MRC_CHECK(name(r.op) != "unknown"); }
};

/// Headers, payload, padding and iCRC fit into the input.
void check_lengths(Bytes input, const Parsed& parsed) {
  if (parsed.cut || is_trimmed(parsed.envelope.traffic_class)) return;
  const std::size_t payload = parsed.payload.size();
  MRC_CHECK(header_size(parsed.packet) + payload + pad_for(payload) + 4 <= input.size());
}

}  // namespace

Settings strict() { return Settings{}; }

Settings lax() {
  Settings s;
  s.check_icrc = s.check_udp_checksum = false;
  return s;
}

void check_parsed(Bytes input, const Parsed& parsed, Verdict verdict) {
  MRC_CHECK(verdict <= Verdict::trimmed_too_short);
  MRC_CHECK(inside(parsed.payload, input));
  (void)one_line(parsed);
  (void)in_full(parsed, verdict);
  (void)to_json(parsed, verdict);
  if (verdict != Verdict::ok && verdict != Verdict::trimmed_ok) return;
  MRC_CHECK((verdict == Verdict::trimmed_ok) == is_trimmed(parsed.envelope.traffic_class));
  MRC_CHECK(parsed.packet.dqpn.value <= 0xFFFFFF);
  MRC_CHECK(static_cast<std::uint8_t>(parsed.packet.opcode()) == parsed.opcode);
  if (verdict == Verdict::trimmed_ok) MRC_CHECK(parsed.payload.empty());
  if (verdict == Verdict::ok && !parsed.cut) MRC_CHECK(parsed.reached == Reached::everything);
  std::visit(CheckBody{parsed}, parsed.packet.body);
  check_lengths(input, parsed);
}

void check_stable(const Parsed& parsed, const Settings& settings) {
  std::vector<std::uint8_t> out(parsed.payload.size() + kMaxHead + 8);
  Parsed again;
  Verdict verdict;
  if (parsed.encapsulation == Encapsulation::datagram) {
    out.resize(emit_datagram(parsed.packet, parsed.datagram, parsed.payload, settings, out));
    verdict = parse_datagram(out, parsed.datagram, strict(), again);
  } else {
    Route route{parsed.datagram.source, parsed.datagram.destination};
    if (parsed.encapsulation >= Encapsulation::srv6) route.usid_carrier = parsed.outer_destination;
    out.resize(emit_l3(parsed.packet, parsed.envelope, route, parsed.payload, settings, out));
    verdict = parse_l3(out, strict(), again);
  }
  if (out.empty()) return;  // longer than a packet may be once everything is counted
  MRC_CHECK(verdict == Verdict::ok);
  MRC_CHECK(again.packet == parsed.packet && again.envelope == parsed.envelope);
  MRC_CHECK(std::ranges::equal(again.payload, parsed.payload));
}

}  // namespace mrc::fuzz
