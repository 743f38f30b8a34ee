// What the engine costs per data packet, on each side: the requestor with all that comes back to it, the responder with
// all that it answers. Two QPs face to face, 128 EVs, batches of 32 packets, warm.
#include <benchmark/benchmark.h>

#include <chrono>

#include "engine/congestion_profile.h"
#include "engine/queue_pair.h"

namespace mrc::engine {
namespace {

using Clock = std::chrono::steady_clock;

struct AnyMemory final : Memory {
  Access check(RKey, std::uint64_t, std::uint32_t) override { return Access::ok; }
};

struct Wire {
  explicit Wire(std::uint8_t spray_unit) {
    for (int i = 0; i < 128; ++i) {
      table.push_back({Ev(static_cast<std::uint32_t>(i + 1)), PortId(static_cast<std::uint8_t>(i % 8 + 1))});
    }
    for (std::uint32_t i = 0; i < 2; ++i) {
      QpConfig c{.local = Qpn(10 + i), .remote = Qpn(11 - i), .path_table = table, .seed = i};
      c.paths.spray_unit = spray_unit;
      c.limits.mpr = c.limits.mpr_dest = 16;
      congestion[i] = std::move(*make_congestion(CcProfile::defaults({.bits_per_second = 800'000'000'000, .base_rtt = 10us})));
      qp[i].emplace(c, *congestion[i], pool);
      for (auto s : {QpState::init, QpState::rtr, QpState::rts}) qp[i]->modify(now, s);
    }
  }

  void refill() {
    while (qp[0]->post_send(now, {.remote_va = 0, .length = 1 << 20}).error == 0) {
    }
  }

  std::vector<Path> table;
  std::unique_ptr<Congestion> congestion[2];
  RecordPool pool{1 << 16};
  std::optional<QueuePair> qp[2];
  AnyMemory memory;
  Time now{};
};

enum class Side { requestor, responder };

void engine_per_packet(benchmark::State& state, Side side) {
  Wire w(static_cast<std::uint8_t>(state.range(0)));
  constexpr std::size_t kBatch = 32;
  std::vector<Transmit> data(kBatch), answers(4 * kBatch);
  std::size_t packets = 0;
  const PortMask room(~0u);
  for (auto _ : state) {
    w.refill();
    w.now += 3us;
    const auto a = Clock::now();
    std::size_t n = 0;
    while (n < kBatch && w.qp[0]->poll_transmit(w.now, room, data[n])) ++n;
    const auto b = Clock::now();
    for (std::size_t i = 0; i < n; ++i) w.qp[1]->handle_packet(w.now, data[i].packet, data[i].envelope, w.memory);
    std::size_t m = 0;
    while (m < answers.size() && w.qp[1]->poll_transmit(w.now, room, answers[m])) ++m;
    const auto c = Clock::now();
    for (std::size_t i = 0; i < m; ++i) w.qp[0]->handle_packet(w.now, answers[i].packet, answers[i].envelope, w.memory);
    Completion done;
    while (w.qp[0]->poll_completion(w.now, done)) {
    }
    const auto d = Clock::now();
    const auto spent = side == Side::requestor ? (b - a) + (d - c) : c - b;
    state.SetIterationTime(std::chrono::duration<double>(spent).count());
    packets += n;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(packets));
  state.counters["ns_per_packet"] =
      benchmark::Counter(static_cast<double>(packets) * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(engine_per_packet, requestor, Side::requestor)->Arg(1)->Arg(8)->UseManualTime();
BENCHMARK_CAPTURE(engine_per_packet, responder, Side::responder)->Arg(1)->Arg(8)->UseManualTime();

}  // namespace
}  // namespace mrc::engine
