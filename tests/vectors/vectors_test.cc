// The golden packets, both ways: bytes to the fields and verdicts written beside them, and fields back to
// bytes. They prove MRC-WIRE-001 to MRC-WIRE-061 byte by byte; what each is about is in its `about`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "vector_file.h"
#include "wire/fields.h"
#include "wire/print.h"

namespace mrc::vectors {
namespace {

using wire::Bytes;
using wire::Encapsulation;

const std::vector<Vector>& vectors() {
  static const auto* all = new std::vector<Vector>(read_all(MRC_SOURCE_DIR "/tests/vectors"));
  return *all;
}

/// Collects a packet's fields under their names.
struct Collect {
  Fields out{};
  std::string at{};

  void header(const char* n) { at = n; }
  void number(const char* n, const auto& f) { out[at + "." + n] = wire::raw_of(f); }
  void hex(const char* n, const auto& f, int) { number(n, f); }
  void offset(const char* n, std::int16_t f) {
    out[at + "." + n] = static_cast<std::uint64_t>(std::int64_t{f});
  }
  void flag(const char* n, bool f) { out[at + "." + n] = f; }
};

/// Sets a packet's fields by their names.
struct Set {
  const Fields& in;
  std::string at{};

  void header(const char* n) { at = n; }
  void number(const char* n, auto& f) { wire::assign(f, in.at(at + "." + n)); }
  void hex(const char* n, auto& f, int) { number(n, f); }
  void offset(const char* n, auto& f) { number(n, f); }
  void flag(const char* n, bool& f) { f = in.at(at + "." + n) != 0; }
};

wire::Datagram datagram_of(const Vector& v) {
  wire::Datagram d;
  d.source = *wire::parse_ip(v.net.at("source"));
  d.destination = *wire::parse_ip(v.net.at("destination"));
  d.source_port = static_cast<std::uint16_t>(v.net_numbers.at("source_port"));
  d.destination_port = static_cast<std::uint16_t>(v.net_numbers.at("destination_port"));
  d.flow_label = static_cast<std::uint32_t>(v.net_numbers.at("flow_label"));
  d.traffic_class = static_cast<std::uint8_t>(v.net_numbers.at("traffic_class"));
  return d;
}

wire::Datagram any_datagram() {
  wire::Datagram d;
  d.source = d.destination = *wire::parse_ip("fd00::1");
  d.destination_port = 4791;
  return d;
}

Verdict parse(const Vector& v, wire::Parsed& out) {
  if (v.level == "l2") return wire::parse_l2(v.bytes, v.settings, out);
  if (v.level == "l3") return wire::parse_l3(v.bytes, v.settings, out);
  return wire::parse_datagram(v.bytes, v.net.empty() ? any_datagram() : datagram_of(v), v.settings, out);
}

bool is_accepted(const Vector& v) { return v.verdict == "ok" || v.verdict == "trimmed_ok"; }

TEST(Vectors, EveryPacketGetsItsVerdict) {
  for (const Vector& v : vectors()) {
    wire::Parsed parsed;
    EXPECT_EQ(name(parse(v, parsed)), v.verdict) << v.file << " " << v.name;
  }
}

TEST(Vectors, BytesBecomeTheFieldsBesideThem) {
  for (const Vector& v : vectors()) {
    if (!is_accepted(v)) continue;
    SCOPED_TRACE(v.file + " " + v.name);
    wire::Parsed parsed;
    parse(v, parsed);
    Collect collected;
    collected.out["bth.opcode"] = parsed.opcode;
    wire::visit_fields(std::as_const(parsed.packet), collected, parsed.reached);
    EXPECT_EQ(collected.out, v.fields);
    EXPECT_TRUE(std::ranges::equal(parsed.payload, v.payload));
    EXPECT_EQ(to_string(parsed.datagram.source), v.net.at("source"));
    EXPECT_EQ(to_string(parsed.datagram.destination), v.net.at("destination"));
    EXPECT_EQ(name(parsed.encapsulation), v.net.at("encapsulation"));
    EXPECT_EQ(parsed.envelope.ev.value, v.net_numbers.at("ev"));
    EXPECT_EQ(name(parsed.envelope.traffic_class), v.net.at("class"));
    EXPECT_EQ(name(parsed.envelope.ecn), v.net.at("ecn"));
    const std::string outer = v.net.contains("carrier") ? v.net.at("carrier") : "::";
    EXPECT_EQ(to_string(parsed.outer_destination), outer);
  }
}

wire::Envelope envelope_of(const Vector& v) {
  wire::Envelope e;
  e.ev = Ev(static_cast<std::uint32_t>(v.net_numbers.at("ev")));
  for (int c = 0; c < 6; ++c) {
    if (name(wire::TrafficClass(c)) == v.net.at("class")) e.traffic_class = wire::TrafficClass(c);
  }
  for (int c = 0; c < 4; ++c) {
    if (name(wire::Ecn(c)) == v.net.at("ecn")) e.ecn = wire::Ecn(c);
  }
  return e;
}

std::vector<std::uint8_t> emitted(const Vector& v, const wire::Packet& packet) {
  std::vector<std::uint8_t> out(5000);
  if (v.level == "datagram") {
    out.resize(wire::emit_datagram(packet, datagram_of(v), v.payload, v.settings, out));
    return out;
  }
  wire::Route route{*wire::parse_ip(v.net.at("source")), *wire::parse_ip(v.net.at("destination"))};
  if (v.net.contains("carrier")) route.usid_carrier = wire::parse_ip(v.net.at("carrier"));
  if (v.net.contains("next_carrier")) route.next_carrier = wire::parse_ip(v.net.at("next_carrier"));
  out.resize(wire::emit_l3(packet, envelope_of(v), route, v.payload, v.settings, out));
  return out;
}

TEST(Vectors, FieldsBecomeTheBytesBesideThem) {
  int count = 0;
  for (const Vector& v : vectors()) {
    if (v.verdict != "ok" || !v.emit) continue;
    auto packet = wire::empty_packet(static_cast<std::uint8_t>(v.fields.at("bth.opcode")));
    ASSERT_TRUE(packet) << v.name;
    Set set{v.fields};
    wire::visit_fields(*packet, set);
    EXPECT_EQ(emitted(v, *packet), v.bytes) << v.file << " " << v.name;
    ++count;
  }
  EXPECT_GE(count, 100);
}

TEST(Vectors, CoverEveryOpcodeInEveryEncapsulationAndEveryVerdictOfParsing) {
  std::set<std::pair<std::uint64_t, std::string>> seen;
  std::set<std::string> verdicts;
  for (const Vector& v : vectors()) {
    verdicts.insert(v.verdict);
    if (v.verdict == "ok") seen.insert({v.fields.at("bth.opcode"), v.net.at("encapsulation")});
  }
  EXPECT_EQ(seen.size(), 12u * 5u);
  for (int v = 0; v <= static_cast<int>(Verdict::trimmed_too_short); ++v) {
    EXPECT_TRUE(verdicts.contains(std::string(name(Verdict(v))))) << name(Verdict(v));
  }
}

TEST(Vectors, NamesAreUnique) {
  std::set<std::string> names;
  for (const Vector& v : vectors()) EXPECT_TRUE(names.insert(v.file + v.name).second) << v.name;
}

}  // namespace
}  // namespace mrc::vectors
