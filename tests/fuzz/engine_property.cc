// A hostile peer: any packets, in any order, at any time, against one QP.
#include <cstring>

#include "base/check.h"
#include "engine/constant_window.h"
#include "engine/queue_pair.h"
#include "properties.h"

namespace mrc::fuzz {
namespace {

using namespace engine;

/// Reads the input as choices; zeros when it is used up.
class Choices {
 public:
  explicit Choices(wire::Bytes input) : input_(input) {}
  bool more() const { return !input_.empty(); }
  template <class T>
  T take() {
    T v{};
    const std::size_t n = std::min(sizeof(T), input_.size());
    std::memcpy(&v, input_.data(), n);
    input_ = input_.subspan(n);
    return v;
  }

 private:
  wire::Bytes input_;
};

/// One region of 64 KiB. Remembers what it allowed, so that nothing else is placed.
struct OneRegion final : Memory {
  static constexpr RKey kKey{5};
  static constexpr std::uint64_t kSize = 1 << 16;
  Access check(RKey rkey, std::uint64_t va, std::uint32_t length) override {
    allowed = rkey == kKey && va <= kSize && length <= kSize - va;
    return rkey != kKey ? Access::bad_rkey : allowed ? Access::ok : Access::out_of_bounds;
  }
  bool allowed = false;
};

wire::Packet arbitrary_packet(Choices& c, const QueuePair& qp) {
  wire::Packet p{.dqpn = Qpn(1), .psn = Psn(c.take<std::uint16_t>()), .body = {}};
  // PSNs near what is open are worth more than random ones.
  const Psn near = qp.requestor().flight().base() + static_cast<std::int8_t>(c.take<std::uint8_t>());
  switch (c.take<std::uint8_t>() % 6) {
    case 0: {
      wire::Write w{
          .va = c.take<std::uint32_t>() & 0x1FFFF, .rkey = RKey(c.take<std::uint8_t>() % 8), .imm = 1};
      w.segment = static_cast<wire::Segment>(c.take<std::uint8_t>() % 4);
      w.dma_length = c.take<std::uint32_t>() & 0x1FFFF;
      w.payload =
          w.segment == wire::Segment::only ? static_cast<std::uint16_t>(w.dma_length) : std::uint16_t{1024};
      w.rqmsn = c.take<std::uint8_t>() % 64;
      w.has_imm = wire::ends(w.segment) && c.take<std::uint8_t>() % 4 == 0;
      w.ack_request = c.take<std::uint8_t>() % 2 == 0;
      p.psn = Psn(c.take<std::uint16_t>() % 2048);
      p.body = w;
      break;
    }
    case 1:
      p.body = wire::Sack{.bitmap = c.take<std::uint64_t>(),
                          .entropy = Ev(c.take<std::uint8_t>()),
                          .cack_psn = near,
                          .rcvd_bytes = c.take<std::uint32_t>() & 0xFFFFFF,
                          .ack_psn_offset = c.take<std::int16_t>(),
                          .sack_offset = c.take<std::int16_t>(),
                          .mpr = c.take<std::uint8_t>(),
                          .rcv_cwnd_pen = static_cast<std::uint8_t>(c.take<std::uint8_t>() & 0x7F),
                          .mark = static_cast<wire::SackMark>(c.take<std::uint8_t>() % 3),
                          .probe_reply = c.take<std::uint8_t>() % 4 == 0,
                          .restore_cwnd = c.take<std::uint8_t>() % 8 == 0};
      break;
    case 2: {
      static constexpr wire::NackReason kReasons[] = {
          wire::NackReason::trimmed, wire::NackReason::trimmed_lasthop, wire::NackReason::no_resource,
          wire::NackReason::psn_oor_window};
      p.body = wire::Nack{.entropy = Ev(c.take<std::uint8_t>()),
                          .nack_psn = near,
                          .reason = kReasons[c.take<std::uint8_t>() % 4]};
      break;
    }
    case 3: p.body = wire::TransportAck{.msn = c.take<std::uint8_t>() % 8u}; break;
    case 4: p.body = wire::Probe{.probe_id = c.take<std::uint16_t>()}; break;
    default: p.body = wire::EndpointRequest{}; break;
  }
  return p;
}

struct Bench {
  explicit Bench(Choices& c) {
    for (std::uint32_t i = 0; i < 8; ++i)
      table.push_back({Ev(i + 1), PortId(static_cast<std::uint8_t>(i % 2 + 1))});
    QpConfig config{.local = Qpn(1), .remote = Qpn(2), .path_table = table, .seed = c.take<std::uint8_t>()};
    config.limits.path_mtu = 1024;
    config.limits.dynamic_mpr = c.take<std::uint8_t>() % 2 == 0;
    config.requestor.timeout = 10;
    config.requestor.exponential_retries = kRetryForEver;
    qp.emplace(config, window, pool);
    for (auto s : {QpState::init, QpState::rtr, QpState::rts}) qp->modify(now, s);
  }

  void drain() {
    Transmit t;
    int budget = 1 << 14;  // a window of packets, their answers, a burst of probes: never an endless stream
    while (qp->poll_transmit(now, PortMask(~0u), t)) {
      MRC_CHECK(--budget > 0);
      if (!std::holds_alternative<wire::Write>(t.packet.body)) continue;
      MRC_CHECK(t.packet.psn - qp->requestor().flight().base() < config_window());
    }
    Completion done;
    while (qp->poll_completion(now, done)) MRC_CHECK(++completed <= posted);
  }
  static int config_window() { return kMinMpr * kMprUnit; }

  std::vector<Path> table;
  ConstantWindow window{1 << 20};
  RecordPool pool{4096};
  std::optional<QueuePair> qp;
  OneRegion memory;
  Time now{};
  int posted = 0, completed = 0;
};

}  // namespace

void check_engine(wire::Bytes input) {
  Choices c(input);
  Bench b(c);
  for (int step = 0; c.more() && step < 400; ++step) {
    switch (c.take<std::uint8_t>() % 8) {
      case 0:
        if (b.qp->post_send(b.now, {.length = c.take<std::uint32_t>() & 0xFFFF, .has_imm = step % 3 == 0})
                .error == 0)
          ++b.posted;
        break;
      case 1:
        if (b.qp->post_receive(1) == 0) ++b.posted;
        break;
      case 2:
        b.now += Duration(c.take<std::uint16_t>() * std::int64_t{64});
        b.qp->handle_timeout(b.now);
        break;
      case 3: b.qp->handle_peer_ports(b.now, PortMask(c.take<std::uint8_t>())); break;
      default: {
        const wire::Packet p = arbitrary_packet(c, *b.qp);
        const wire::Envelope e{.ev = Ev(1),
                               .port = PortId(1),
                               .traffic_class = c.take<std::uint8_t>() % 8 == 0
                                                    ? wire::TrafficClass::trimmed
                                                    : wire::TrafficClass::trimmable};
        b.memory.allowed = false;
        const Verdict v = b.qp->handle_packet(b.now, p, e, b.memory);
        const auto* w = std::get_if<wire::Write>(&p.body);
        if (v == Verdict::ok && w != nullptr && w->dma_length > 0) MRC_CHECK(b.memory.allowed);
      }
    }
    b.drain();
  }
}

}  // namespace mrc::fuzz
