// The tester's end of the wire: what checks send with, what they hear, and a record of both.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conform/check.h"
#include "conform/device.h"
#include "conform/edge.h"
#include "wire/codec.h"

namespace mrc::conform {

struct BenchSettings {
  wire::Settings wire;
  Terms terms;                           // of a QP where a check has no wishes
  Duration answer = 200ms;               // how long an answer may take
  Duration quiet = 20ms;                 // silence for so long is an answer too
  std::uint32_t sack_bytes = 16 * 1024;  // the device's threshold for a SACK
  int evs = 8;                           // a device sprays over at least so many
};

/// One packet of the device. Decoded without looking at checksums: those have checks of their own, and a
/// device that gets one thing wrong is not blamed for everything.
struct Heard {
  Time at{};
  int plane = 0;
  std::vector<std::uint8_t> bytes;  // the UDP payload; parsed.payload points into it
  wire::Parsed parsed;
  Verdict verdict = Verdict::ok;  // of a receiver that looks at everything

  Ev ev() const { return parsed.envelope.ev; }
  Psn psn() const { return parsed.packet.psn; }
  Psn bth_psn() const;  // as the bytes have it
  template <class Body>
  const Body* as() const {
    return std::get_if<Body>(&parsed.packet.body);
  }
};

/// A packet as on the wire, from its IP header on: for the capture.
struct Frame {
  Time at;
  std::vector<std::uint8_t> bytes;
};

/// A write packet to send. What is not said makes a correct one.
struct Out {
  int psn = 0;           // counted from our first
  std::uint32_t at = 0;  // offset in the device's memory
  std::uint16_t length = 64;
  wire::Segment segment = wire::Segment::only;
  std::uint32_t message = 0;  // DMA length; 0: `length`
  std::uint16_t msn = 0, rqmsn = 0;
  std::optional<std::uint32_t> imm = std::nullopt;
  bool ack_request = false, rtx = false;
  Ev ev{0xC0A1};
  wire::Ecn ecn = wire::Ecn::ect0;
  wire::TrafficClass traffic_class = wire::TrafficClass::trimmable;
  std::optional<RKey> rkey = std::nullopt;  // default: the device's
  std::optional<std::uint16_t> timestamp = std::nullopt;
  std::uint8_t fill = 0xA5;
};

class Bench {
 public:
  Bench(Edge& edge, Device& device, const BenchSettings& settings);

  const BenchSettings& settings() const { return settings_; }
  Device& device() { return device_; }
  Time now() { return edge_.now(); }
  /// 32-bit EVs travel whole; else only their low half does.
  bool carries_flow_labels() const { return edge_.port(0).capabilities().flow_label; }

  int planes() const { return edge_.planes(); }

  // --- the QP ---
  Status connect() { return connect(settings_.terms); }
  Status connect(const Terms& terms);
  const Terms& terms() const { return terms_; }
  const Target& target() const { return target_; }
  Psn ours(int n) const { return terms_.psn + n; }
  bool failed() const { return !broken_.empty(); }
  const std::string& broken() const { return broken_; }  // the hand on the device failed: why

  // --- to the device ---
  using Spoil = std::function<void(std::vector<std::uint8_t>& bytes, wire::Datagram& around)>;
  void send(const wire::Packet& packet, const wire::Envelope& envelope, wire::Bytes payload = {},
            const Spoil& spoil = {});
  void send(const wire::Body& body, Psn psn, Qpn to, const wire::Envelope& envelope);
  void write(const Out& out, const Spoil& spoil = {});
  void probe(std::uint16_t id, Ev ev = Ev(0xC0A1));

  // --- from the device ---
  std::optional<Heard> next(Duration within);
  /// Everything that comes within this time.
  std::vector<Heard> collect(Duration within);
  /// The next packet with such a body that `wanted` likes; what comes before it is passed over.
  template <class Body>
  std::optional<Heard> await(Duration within,
                             const std::function<bool(const Body&, const Heard&)>& wanted = {}) {
    const Time deadline = now() + within;
    while (auto heard = next(deadline - now())) {
      const Body* body = heard->as<Body>();
      if (body != nullptr && (!wanted || wanted(*body, *heard))) return heard;
    }
    return std::nullopt;
  }
  template <class Body>
  std::optional<Heard> await() {
    return await<Body>(settings_.answer);
  }
  /// A SACK by whatever means: a probe, else a repeated packet. For checks of what SACKs say, not when they
  /// come.
  std::optional<Heard> any_sack();

  // --- the hand on the device; errors are kept in broken() ---
  void post(const std::vector<PostedWrite>& writes);
  std::vector<Completed> completions();
  /// Asks until so many completed or the time is over.
  std::vector<Completed> completions(std::size_t count, Duration within);
  std::vector<std::uint8_t> memory(std::uint32_t offset, std::uint32_t length);

  const std::vector<Frame>& capture() const { return capture_; }

 private:
  std::size_t listen(int plane);
  Heard hear(const port::RxPacket& packet, int plane);
  void record(const wire::Datagram& around, wire::Bytes bytes);
  wire::Datagram around(const wire::Envelope& envelope) const;

  Edge& edge_;
  Device& device_;
  BenchSettings settings_;
  wire::Settings lenient_;
  Terms terms_;
  Target target_;
  std::deque<Heard> inbox_;
  std::vector<Frame> capture_;
  std::string broken_;
};

}  // namespace mrc::conform
