#include "conform/bench.h"

#include <algorithm>
#include <cerrno>

#include "port/frame_head.h"
#include "wire/ethernet.h"

namespace mrc::conform {
namespace {

constexpr std::size_t kMostFrames = 20'000;  // of one check: a device that floods us does not fill our memory
constexpr std::size_t kBurst = 64;

wire::IpAddress ip_of(const port::Address& a) { return {a.ip}; }
port::Address address_of(const wire::IpAddress& ip) { return {ip.bytes}; }

/// The first, unless it says another.
int plane_of(const wire::Envelope& envelope) { return std::max(0, envelope.port.value - 1); }

wire::Settings without_checks(wire::Settings s) {
  s.check_icrc = s.check_udp_checksum = s.check_control_psn = false;
  return s;
}

}  // namespace

Error Device::unable() { return {ENOTSUP, "this device can't be asked for that"}; }

Psn Heard::bth_psn() const { return bytes.size() < 12 ? Psn() : Psn(wire::load32(bytes.data() + 8)); }

Bench::Bench(Edge& edge, Device& device, const BenchSettings& settings)
    : edge_(edge), device_(device), settings_(settings), lenient_(without_checks(settings.wire)) {}

Status Bench::connect(const Terms& terms) {
  auto target = device_.connect(terms);
  if (!target) return broken_ = target.error().what, target.error();
  terms_ = terms;
  target_ = *target;
  // What an earlier QP still had to say belongs to nobody. A device that never stops talking does not stop
  // us.
  for (std::size_t i = 0; i < kMostFrames && next(Duration::zero()); ++i) {
  }
  return Done{};
}

wire::Datagram Bench::around(const wire::Envelope& envelope) const {
  const int plane = plane_of(envelope);
  return wire::make_datagram(envelope, ip_of(edge_.port(plane).local()), ip_of(edge_.device(plane)),
                             settings_.wire);
}

void Bench::send(const wire::Packet& packet, const wire::Envelope& envelope, wire::Bytes payload,
                 const Spoil& spoil) {
  wire::Datagram around = this->around(envelope);
  std::vector<std::uint8_t> bytes(payload.size() + wire::kMaxHead + sizeof(wire::Tail));
  bytes.resize(wire::emit_datagram(packet, around, payload, settings_.wire, bytes));
  if (spoil) spoil(bytes, around);
  const iovec piece{bytes.data(), bytes.size()};
  const int plane = plane_of(envelope);
  const port::Address to = edge_.device(plane);
  port::TxTrain train{.pieces = &piece,
                      .piece_count = 1,
                      .packet_bytes = static_cast<std::uint32_t>(bytes.size()),
                      .source_port = around.source_port,
                      .flow_label = around.flow_label,
                      .tos = around.traffic_class,
                      .to = &to};
  if (edge_.port(plane).tx({&train, 1}) != 1 || train.error != 0)
    broken_ = "a packet can't be sent: check address and route";
  record(around, bytes);
}

void Bench::send(const wire::Body& body, Psn psn, Qpn to, const wire::Envelope& envelope) {
  send({.dqpn = to, .psn = psn, .body = body}, envelope);
}

void Bench::write(const Out& out, const Spoil& spoil) {
  const std::vector<std::uint8_t> payload(out.length, out.fill);
  const wire::Write body{.va = target_.va + out.at,
                         .rkey = out.rkey.value_or(target_.rkey),
                         .dma_length = out.message != 0 ? out.message : out.length,
                         .imm = out.imm.value_or(0),
                         .payload = out.length,
                         .rqmsn = out.rqmsn,
                         .msn = out.msn,
                         .timestamp = {out.timestamp.value_or(0)},
                         .segment = out.segment,
                         .has_imm = out.imm.has_value(),
                         .has_timestamp = out.timestamp.has_value(),
                         .ack_request = out.ack_request,
                         .retransmitted = out.rtx};
  send({.dqpn = target_.qpn, .psn = ours(out.psn), .body = body},
       {.ev = out.ev, .traffic_class = out.traffic_class, .ecn = out.ecn}, payload, spoil);
}

void Bench::probe(std::uint16_t id, Ev ev) {
  // Its PSN means nothing: one that would be an error elsewhere.
  send(wire::Probe{.probe_id = id}, Psn(0x555555), target_.qpn, {.ev = ev});
}

Heard Bench::hear(const port::RxPacket& packet, int plane) {
  Heard heard;
  heard.at = now();
  heard.plane = plane;
  const auto* data = reinterpret_cast<const std::uint8_t*>(packet.data);
  heard.bytes.assign(data, data + packet.size);
  wire::Datagram d;
  d.source = ip_of(*packet.from);
  d.destination = ip_of(edge_.port(plane).local());
  d.source_port = packet.source_port;
  d.destination_port = settings_.wire.udp_port;
  d.flow_label = packet.flow_label;
  d.traffic_class = packet.tos;
  record(d, heard.bytes);
  heard.verdict = wire::parse_datagram(heard.bytes, d, settings_.wire, heard.parsed);
  wire::parse_datagram(heard.bytes, d, lenient_, heard.parsed);
  return heard;
}

std::size_t Bench::listen(int plane) {
  port::RxPacket packets[kBurst];
  const std::size_t n = edge_.port(plane).rx(packets);
  for (std::size_t i = 0; i < n; ++i) {
    if (ip_of(*packets[i].from) == ip_of(edge_.device(plane))) inbox_.push_back(hear(packets[i], plane));
  }
  return n;
}

std::optional<Heard> Bench::next(Duration within) {
  if (within < Duration::zero()) return std::nullopt;  // over, however much still comes
  const Time deadline = now() + within;
  while (inbox_.empty()) {
    std::size_t n = 0;
    for (int plane = 0; plane < planes(); ++plane) n += listen(plane);
    if (n > 0) continue;
    if (now() >= deadline || failed()) return std::nullopt;
    edge_.wait(deadline);
  }
  Heard first = std::move(inbox_.front());
  inbox_.pop_front();
  return first;
}

std::vector<Heard> Bench::collect(Duration within) {
  std::vector<Heard> all;
  const Time deadline = now() + within;
  while (auto heard = next(deadline - now())) all.push_back(std::move(*heard));
  return all;
}

std::optional<Heard> Bench::any_sack() {
  probe(0x0777);
  if (auto sack = await<wire::Sack>(settings_.quiet)) return sack;
  write({.ack_request = true, .rtx = true});
  return await<wire::Sack>();
}

void Bench::post(const std::vector<PostedWrite>& writes) {
  if (auto posted = device_.post(writes); !posted) broken_ = posted.error().what;
}

std::vector<Completed> Bench::completions() {
  auto done = device_.completions();
  if (done) return *std::move(done);
  broken_ = done.error().what;
  return {};
}

std::vector<Completed> Bench::completions(std::size_t count, Duration within) {
  const Time deadline = now() + within;
  std::vector<Completed> all = completions();
  while (all.size() < count && now() < deadline && !failed()) {
    collect(std::min<Duration>(2ms, deadline - now()));
    const auto more = completions();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<std::uint8_t> Bench::memory(std::uint32_t offset, std::uint32_t length) {
  auto bytes = device_.memory(offset, length);
  if (bytes) return *std::move(bytes);
  broken_ = bytes.error().what;
  return std::vector<std::uint8_t>(length);
}

void Bench::record(const wire::Datagram& d, wire::Bytes bytes) {
  if (capture_.size() >= kMostFrames) return;
  const port::Address from = address_of(d.source), to = address_of(d.destination);
  const port::TxTrain train{.packet_bytes = static_cast<std::uint32_t>(bytes.size()),
                            .source_port = d.source_port,
                            .flow_label = d.flow_label,
                            .tos = d.traffic_class,
                            .to = &to};
  std::uint8_t head[port::kMaxFrameHead];
  port::emit_frame_head(train, {.from = from, .udp_port = settings_.wire.udp_port}, head);
  Frame frame{now(), {head + wire::Ethernet::kSize, head + port::frame_head_size(train)}};
  frame.bytes.insert(frame.bytes.end(), bytes.begin(), bytes.end());
  capture_.push_back(std::move(frame));
}

}  // namespace mrc::conform
