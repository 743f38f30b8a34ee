#include "properties.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.h"
#include "plausible.h"
#include "wire/mark.h"
#include "wire/testing.h"

namespace mrc::fuzz {
namespace {

using namespace wire;

/// A parser under one name, so that each property is written once.
using Parse = Verdict (*)(Bytes, const Settings&, Parsed&, CutPackets);

void check_frames(Bytes input, Parse parse) {
  for (const Settings& settings : {strict(), lax()}) {
    Parsed parsed, again, cut;
    const Verdict verdict = parse(input, settings, parsed, CutPackets::refuse);
    check_parsed(input, parsed, verdict);
    MRC_CHECK(parse(input, settings, again, CutPackets::refuse) == verdict && again.packet == parsed.packet);
    const Verdict allowed = parse(input, settings, cut, CutPackets::allow);
    check_parsed(input, cut, allowed);
    if (verdict != Verdict::ok) continue;
    MRC_CHECK(allowed == Verdict::ok && cut.packet == parsed.packet);
    check_stable(parsed, settings);
  }
}

/// Takes numbers off the front of the input; zero when it is used up.
struct Chooser {
  Bytes rest;

  std::uint64_t take(std::size_t n) {
    std::uint64_t v = 0;
    for (std::size_t i = 0; i < n; ++i) {
      v = v << 8 | (rest.empty() ? 0 : rest[0]);
      if (!rest.empty()) rest = rest.subspan(1);
    }
    return v;
  }
};

struct Chosen {
  Packet packet;
  Envelope envelope;
  Route route;
  std::vector<std::uint8_t> payload, bytes;
};

Chosen choose_packet(Chooser& choose) {
  const Opcode op = testing::kOpcodes[choose.take(1) % std::size(testing::kOpcodes)];
  const Encapsulation encapsulation = testing::kFrames[choose.take(1) % std::size(testing::kFrames)];
  Prng prng(choose.take(8));
  Chosen c;
  c.packet = testing::random_packet(op, prng);
  c.envelope = testing::random_envelope(c.packet, encapsulation == Encapsulation::ipv4, prng);
  c.route = testing::random_route(encapsulation, prng);
  const auto* w = std::get_if<Write>(&c.packet.body);
  const std::size_t size = w == nullptr ? 0 : ends(w->segment) ? prng.below(100) : 4 * prng.below(25);
  c.payload = testing::random_bytes(size, prng);
  c.bytes.resize(400);
  c.bytes.resize(emit_l3(c.packet, c.envelope, c.route, c.payload, strict(), c.bytes));
  if (auto* write = std::get_if<Write>(&c.packet.body)) write->payload = static_cast<std::uint16_t>(size);
  return c;
}

}  // namespace

void check_l2(Bytes input) { check_frames(input, parse_l2); }
void check_l3(Bytes input) { check_frames(input, parse_l3); }

void check_datagram(Bytes input) {
  Chooser choose{input};
  Datagram around;
  const bool v4 = choose.take(1) % 2 == 0;
  around.source = around.destination = v4 ? IpAddress::v4(10, 0, 0, 1) : *parse_ip("fd00::1");
  around.traffic_class = static_cast<std::uint8_t>(choose.take(1));
  around.source_port = static_cast<std::uint16_t>(choose.take(2));
  if (!v4) around.flow_label = static_cast<std::uint32_t>(choose.take(2));
  around.destination_port = strict().udp_port;
  for (const Settings& settings : {strict(), lax()}) {
    Parsed parsed;
    const Verdict verdict = parse_datagram(choose.rest, around, settings, parsed);
    check_parsed(choose.rest, parsed, verdict);
    if (verdict == Verdict::ok) check_stable(parsed, settings);
  }
}

void check_value(Bytes input) {
  Chooser choose{input};
  const Chosen c = choose_packet(choose);
  MRC_CHECK(!c.bytes.empty());
  Parsed parsed;
  MRC_CHECK(parse_l3(c.bytes, strict(), parsed) == Verdict::ok);
  MRC_CHECK(parsed.packet == c.packet && parsed.envelope == c.envelope);
  MRC_CHECK(std::ranges::equal(parsed.payload, c.payload));
  std::vector<std::uint8_t> small(choose.take(2) % c.bytes.size());  // less room than needed
  MRC_CHECK(emit_l3(c.packet, c.envelope, c.route, c.payload, strict(), small) == 0);
}

void check_mutation(Bytes input) {
  Chooser choose{input};
  Chosen c = choose_packet(choose);
  const std::size_t size = c.bytes.size();
  bool touched_icrc = false;
  while (choose.rest.size() >= 3) {
    const std::size_t at = choose.take(2) % size;
    c.bytes[at] = static_cast<std::uint8_t>(choose.take(1));
    touched_icrc |= at >= size - 4;
  }
  Parsed parsed;
  const Verdict verdict = parse_l3(c.bytes, strict(), parsed);
  check_parsed(c.bytes, parsed, verdict);
  // Accepted as a whole although changed: then only masked fields were. (Who also rewrites the iCRC may say
  // anything.)
  if (verdict == Verdict::ok && !touched_icrc) MRC_CHECK(parsed.packet == c.packet);
}

void check_trim(Bytes input) {
  Chooser choose{input};
  const auto size = static_cast<std::size_t>(choose.take(2));
  const std::uint64_t flags = choose.take(1);
  std::vector<std::uint8_t> bytes(choose.rest.begin(), choose.rest.end());
  Parsed before, after;
  const bool good = parse_l3(bytes, lax(), before) == Verdict::ok;
  const auto to = (flags & 1) != 0 ? TrafficClass::trimmed : TrafficClass::trimmed_lasthop;
  (void)mark_ce(bytes);
  const std::size_t left =
      trim(bytes, size, to, lax(), (flags & 2) != 0 ? TrimLengths::fix : TrimLengths::keep);
  MRC_CHECK(left <= bytes.size());
  const Bytes rest = Bytes(bytes).first(left);
  const Verdict verdict = parse_l3(rest, lax(), after);
  check_parsed(rest, after, verdict);
  const bool expected = verdict == Verdict::trimmed_ok || verdict == Verdict::too_short ||
                        verdict == Verdict::trimmed_too_short;
  MRC_CHECK(!good || expected);
  if (good && verdict == Verdict::trimmed_ok) MRC_CHECK(after.packet.psn == before.packet.psn);
}

void check_canary(Bytes input) {
  Parsed parsed;
  if (parse_l3(input, lax(), parsed) != Verdict::ok) return;
  const auto* sack = std::get_if<Sack>(&parsed.packet.body);
  const bool planted = sack != nullptr && sack->mark == SackMark::always_skip && sack->probe_reply;
  MRC_CHECK(!planted);
}

std::span<const Target> targets() {
  static constexpr Target kTargets[] = {{"l2", check_l2},
                                        {"l3", check_l3},
                                        {"datagram", check_datagram},
                                        {"value", check_value},
                                        {"mutation", check_mutation},
                                        {"trim", check_trim},
                                        {"engine", check_engine},
                                        {"http", check_http},
                                        {"node", check_node},
                                        {"canary", check_canary}};
  return kTargets;
}

}  // namespace mrc::fuzz
