// For tests: a capture made of packets of our own, one after the other, a microsecond apart unless told
// otherwise.
#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "base/check.h"
#include "tools/capture.h"
#include "wire/codec.h"

namespace mrc::tools::testing {

class CaptureMaker {
 public:
  explicit CaptureMaker(std::string path, LinkType link = LinkType::raw_ip)
      : path_(std::move(path)), writer_(*CaptureWriter::create(path_, link)) {}
  ~CaptureMaker() { std::remove(path_.c_str()); }
  CaptureMaker(const CaptureMaker&) = delete;

  /// Where packets come from and go to until told otherwise.
  wire::Route route{wire::IpAddress::v4(10, 0, 0, 1), wire::IpAddress::v4(10, 0, 0, 2)};
  wire::Settings settings;
  Time now{Duration(1'000'000'000)};

  std::vector<std::uint8_t> bytes_of(const wire::Packet& packet, const wire::Envelope& envelope) const {
    std::vector<std::uint8_t> out(wire::kMaxHead + 8192);
    const auto* write = std::get_if<wire::Write>(&packet.body);
    const std::vector<std::uint8_t> payload(write != nullptr ? write->payload : 0, 0x5A);
    out.resize(wire::emit_l3(packet, envelope, route, payload, settings, out));
    MRC_CHECK(!out.empty());
    return out;
  }
  void add(const wire::Packet& packet, Ev ev, wire::TrafficClass c = wire::TrafficClass::trimmable) {
    wire::Envelope envelope;
    envelope.ev = ev;
    envelope.traffic_class = c;
    add_bytes(bytes_of(packet, envelope));
  }
  void add_bytes(Bytes bytes, std::uint32_t original_length = 0) {
    writer_.write(now, bytes, original_length);
    now += 1us;
  }
  /// The other direction from here on.
  void turn_round() { std::swap(route.source, route.destination); }

  const std::string& finish() {
    MRC_CHECK(writer_.finish());
    return path_;
  }

 private:
  std::string path_;
  CaptureWriter writer_;
};

inline wire::Packet write_packet(Qpn qp, std::uint32_t psn, bool rtx = false) {
  wire::Write w;
  w.payload = 256;
  w.dma_length = 256;
  w.msn = static_cast<std::uint16_t>(psn);
  w.retransmitted = rtx;
  return {qp, Psn(psn), 0xFFFF, w};
}

/// Feedback as the responder `from` sends it to the requestor `to`.
inline wire::Packet sack_packet(Qpn to, Qpn from, std::uint32_t cack, std::uint64_t bitmap = 0,
                                Ev ev = Ev(1)) {
  wire::Sack s;
  s.cack_psn = Psn(cack);
  s.sack_offset = 1;
  s.bitmap = bitmap;
  s.entropy = ev;
  s.spdcid = static_cast<std::uint16_t>(to.value);
  s.dpdcid = static_cast<std::uint16_t>(from.value);
  return {to, Psn(cack), 0xFFFF, s};
}

inline wire::Packet nack_packet(Qpn to, Qpn from, std::uint32_t psn, Ev ev) {
  wire::Nack n;
  n.nack_psn = Psn(psn);
  n.entropy = ev;
  n.spdcid = static_cast<std::uint16_t>(to.value);
  n.dpdcid = static_cast<std::uint16_t>(from.value);
  return {to, Psn(psn), 0xFFFF, n};
}

}  // namespace mrc::tools::testing
