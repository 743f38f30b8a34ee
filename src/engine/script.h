// For script tests: one QP under direct control. Feed one packet, expect one answer.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "engine/constant_window.h"
#include "engine/queue_pair.h"

namespace mrc::engine {

class Script : public testing::Test, protected Memory {
 protected:
  static constexpr RKey kKey{77};
  static constexpr PortMask kAll = PortMask(~0u);

  /// Call once the config is as the test wants it.
  void start() { start(window); }
  void start(Congestion& congestion) {
    for (int i = 0; i < evs; ++i) {
      table.push_back({Ev(static_cast<std::uint32_t>(i + 1)), PortId(static_cast<std::uint8_t>(i % 2 + 1))});
    }
    config.local = Qpn(10);
    config.remote = Qpn(20);
    config.send_psn = Psn(100);
    config.receive_psn = Psn(500);
    config.path_table = table;
    qp.emplace(config, congestion, pool);
    for (auto s : {QpState::init, QpState::rtr, QpState::rts}) ASSERT_EQ(qp->modify(now, s), 0);
  }

  Access check(RKey rkey, std::uint64_t va, std::uint32_t length) override {
    if (rkey != kKey) return Access::bad_rkey;
    return va + length <= 1 << 20 ? Access::ok : Access::out_of_bounds;
  }

  // --- as requestor ---
  int post(std::uint32_t length, bool imm = false, bool signaled = true) {
    return qp
        ->post_send(now, {.wr_id = next_id++,
                          .remote_va = 4096,
                          .rkey = kKey,
                          .length = length,
                          .imm = 7,
                          .has_imm = imm,
                          .signaled = signaled})
        .error;
  }
  std::vector<Transmit> drain() {
    std::vector<Transmit> all;
    Transmit t;
    while (qp->poll_transmit(now, kAll, t)) all.push_back(t);
    return all;
  }
  static const wire::Write& write_of(const Transmit& t) { return std::get<wire::Write>(t.packet.body); }
  static bool is_probe(const Transmit& t) { return std::holds_alternative<wire::Probe>(t.packet.body); }

  /// The peer received everything up to `cack`, and of what follows the bits of `bitmap`.
  Verdict sack(Psn cack, std::uint64_t bitmap = 0, wire::SackMark mark = wire::SackMark::none,
               std::uint32_t units = 0) {
    wire::Sack s{
        .bitmap = bitmap, .cack_psn = cack, .rcvd_bytes = units_ += units, .sack_offset = 1, .mark = mark};
    return feed(s, cack);
  }
  Verdict acknowledge(std::uint32_t messages, wire::Syndrome syndrome = wire::Syndrome::ack) {
    return feed(wire::TransportAck{.msn = messages, .syndrome = syndrome}, Psn(0));
  }
  Verdict feed(const wire::Body& body, Psn psn, wire::Envelope e = {.ev = Ev(1), .port = PortId(1)}) {
    return qp->handle_packet(now, {.dqpn = Qpn(10), .psn = psn, .body = body}, e, *this);
  }

  // --- as responder ---
  static wire::Write only(std::uint32_t length, std::uint16_t msn = 0) {
    return {.va = 8192,
            .rkey = kKey,
            .dma_length = length,
            .payload = static_cast<std::uint16_t>(length),
            .msn = msn};
  }
  static wire::Write only_imm(std::uint16_t rqmsn) {
    wire::Write w = only(64);
    w.imm = 1000u + rqmsn;
    w.rqmsn = rqmsn;
    w.has_imm = true;
    return w;
  }
  template <class Body>
  std::vector<Body> answers() {
    std::vector<Body> found;
    for (const auto& t : drain()) {
      if (const auto* b = std::get_if<Body>(&t.packet.body)) found.push_back(*b);
    }
    return found;
  }
  std::vector<Completion> completions() {
    std::vector<Completion> all;
    Completion c;
    while (qp->poll_completion(now, c)) all.push_back(c);
    return all;
  }

  int evs = 16;
  QpConfig config;
  Time now{};
  std::vector<Path> table;
  ConstantWindow window{1 << 26};
  RecordPool pool{8192};
  std::optional<QueuePair> qp;
  std::uint64_t next_id = 1;

 private:
  std::uint32_t units_ = 0;
};

}  // namespace mrc::engine
