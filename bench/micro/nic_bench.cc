// What the software NIC costs per packet, without a kernel: values between two NICs, and bytes between two
// drivers.
#include <benchmark/benchmark.h>

#include <cstring>

#include "datapath/driver.h"
#include "nic/testing.h"
#include "port/port.h"

namespace {

using namespace mrc;

/// Two rings of packets in fixed memory: the cheapest port that still moves bytes.
class RingPort final : public port::Port {
 public:
  explicit RingPort(std::uint8_t last, std::uint32_t max_train) : max_train_(max_train), slots_(kSlots) {
    local_ = *port::parse_address("10.0.0." + std::to_string(last));
  }
  void join(RingPort& peer) { peer_ = &peer, peer.peer_ = this; }
  std::size_t tx(std::span<port::TxTrain> trains) override {
    for (const auto& train : trains) {
      std::size_t piece = 0, at = 0;
      for (std::uint16_t p = 0; p < train.packets; ++p) {
        Slot& slot = peer_->slots_[peer_->tail_++ % kSlots];
        slot.size = 0;
        while (piece < train.piece_count && slot.size < train.packet_bytes) {
          const iovec& v = train.pieces[piece];
          const std::size_t n = std::min<std::size_t>(v.iov_len - at, train.packet_bytes - slot.size);
          std::memcpy(slot.bytes + slot.size, static_cast<const char*>(v.iov_base) + at, n);
          slot.size += static_cast<std::uint32_t>(n);
          at += n;
          if (at == v.iov_len) ++piece, at = 0;
        }
        slot.source_port = train.source_port;
        slot.tos = train.tos;
      }
    }
    return trains.size();
  }
  std::size_t rx(std::span<port::RxPacket> out) override {
    std::size_t n = 0;
    while (n < out.size() && head_ != tail_) {
      const Slot& slot = slots_[head_++ % kSlots];
      out[n++] = {slot.bytes, slot.size, 0, &peer_->local_, &local_, slot.source_port, slot.tos};
    }
    return n;
  }
  int wait_fd() const override { return -1; }
  port::Link link() const override { return {true, 9000, 0, 1}; }
  port::Address local() const override { return local_; }
  port::Capabilities capabilities() const override {
    port::Capabilities c;
    c.max_train = max_train_;
    c.max_train_bytes = 65000;
    c.max_pieces = 1024;
    return c;
  }
  const port::Counters& counters() const override { return counters_; }

 private:
  static constexpr std::size_t kSlots = 512;
  struct Slot {
    std::byte bytes[4224];
    std::uint32_t size;
    std::uint16_t source_port;
    std::uint8_t tos;
  };
  std::uint32_t max_train_;
  port::Address local_;
  RingPort* peer_ = nullptr;
  std::vector<Slot> slots_;
  std::size_t head_ = 0, tail_ = 0;
  port::Counters counters_;
};

nic::testing::HostOptions one_port() {
  nic::testing::HostOptions o;
  o.ports = 1;
  o.evs = 128;
  o.window = 1 << 20;
  return o;
}

struct Ends {
  Ends(int qps, std::uint8_t unit, bool bytes)
      : left(1, 64), right(2, 64), a(1, options(qps)), b(2, options(qps)) {
    left.join(right);
    if (bytes) {
      port::Port* l = &left;
      port::Port* r = &right;
      driver_a = std::make_unique<datapath::Driver>(a.nic, std::span(&l, 1), datapath::DriverSettings{});
      driver_b = std::make_unique<datapath::Driver>(b.nic, std::span(&r, 1), datapath::DriverSettings{});
    }
    for (int i = 0; i < qps; ++i) connect(unit);
  }
  static nic::testing::HostOptions options(int qps) {
    auto o = one_port();
    o.limits.qps = static_cast<std::uint32_t>(qps);
    o.limits.packets_in_flight = 1 << 17;
    return o;
  }
  void connect(std::uint8_t unit) {
    nic::QpCreate made;
    made.pd = nic::PdId(1);
    made.send_cq = made.recv_cq = &a.cq;
    nic::Qp& qa = *a.nic.create_qp(made);
    made.send_cq = made.recv_cq = &b.cq;
    nic::Qp& qb = *b.nic.create_qp(made);
    raise(a, qa, b, qb, unit);
    raise(b, qb, a, qa, unit);
    senders.push_back(&qa);
  }
  void raise(nic::testing::Host& h, nic::Qp& qp, nic::testing::Host& peer, nic::Qp& remote,
             std::uint8_t unit) {
    nic::QpConnect c;
    c.peer = peer.gid;
    c.remote = remote.qpn;
    c.path_settings.spray_unit = unit;
    h.nic.init(qp);
    h.nic.connect(now, qp, c);
    h.nic.start(now, qp, {});
  }
  void post(nic::Qp& qp, std::uint32_t length) {
    const nic::Sge sge = a.local(0, length);
    const nic::SendRequest request{{.remote_va = b.va(0), .rkey = b.key, .length = length},
                                   std::span(&sge, 1)};
    a.nic.post_send(now, qp, request);
  }
  void run(std::size_t completions) {
    nic::Cqe out[64];
    while (completions > 0) {
      now += 1us;
      if (driver_a) {
        driver_a->turn(now);
        driver_b->turn(now);
      } else {
        carry(a, b);
        carry(b, a);
      }
      completions -= a.cq.poll(out);
    }
  }
  void carry(nic::testing::Host& from, nic::testing::Host& to) {
    nic::Departure out;
    int burst = 64;
    while (burst-- > 0 && from.nic.poll_transmit(now, PortMask(~0u), out)) {
      const nic::Piece payload = out.payload.count == 0 ? nic::Piece{} : out.payload.pieces[0];
      to.nic.handle(now, out.transmit.packet, out.transmit.envelope, from.gid, payload);
    }
  }

  Time now{};
  RingPort left, right;
  nic::testing::Host a, b;
  std::unique_ptr<datapath::Driver> driver_a, driver_b;
  std::vector<nic::Qp*> senders;
};

void transfer(benchmark::State& state, bool bytes) {
  const auto length = static_cast<std::uint32_t>(state.range(0));
  const auto qps = static_cast<int>(state.range(1));
  Ends ends(qps, static_cast<std::uint8_t>(state.range(2)), bytes);
  const std::uint64_t packets = (length + 4095) / 4096;
  std::size_t next = 0;
  for (auto _ : state) {
    for (int i = 0; i < 64; ++i) ends.post(*ends.senders[next++ % ends.senders.size()], length);
    ends.run(64);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * 64 * packets));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * 64 * length));
  state.counters["ns_per_packet"] =
      benchmark::Counter(static_cast<double>(state.iterations() * 64 * packets) / 1e9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void values(benchmark::State& state) { transfer(state, false); }
void in_bytes(benchmark::State& state) { transfer(state, true); }

// length, QPs, spray unit
BENCHMARK(values)->Args({1 << 16, 1, 1})->Args({1 << 16, 1, 8})->Args({8, 1, 1})->Args({1 << 16, 1000, 8});
BENCHMARK(in_bytes)
    ->Args({1 << 16, 1, 1})
    ->Args({1 << 16, 1, 8})
    ->Args({8, 1, 8})
    ->Args({64, 1, 8})
    ->Args({1 << 16, 1000, 8});

}  // namespace

BENCHMARK_MAIN();
