// For tests: two NICs joined by wires of a fixed delay, in virtual time, with a hand on every packet.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "nic/nic.h"

namespace mrc::nic::testing {

/// A congestion window that nothing moves; with a gap, packets leave one per gap.
class FixedWindow final : public engine::Congestion {
 public:
  explicit FixedWindow(std::uint64_t bytes, Duration gap = {}) : window_(bytes), gap_(gap) {}
  void on_send(Time now, std::uint32_t bytes) override {
    in_flight_ += bytes;
    if (gap_ > Duration{}) next_ = now + gap_;
  }
  Time next_send() const override { return next_; }
  void on_sack(Time, const Feedback& feedback) override {
    in_flight_ -= static_cast<std::int64_t>(feedback.newly);
  }
  void on_trim(Time, std::uint32_t bytes, bool) override { in_flight_ -= bytes; }
  void on_loss(Time, std::uint32_t bytes) override { in_flight_ -= bytes; }
  void on_settled(Time, std::int64_t bytes) override { in_flight_ -= bytes; }
  bool may_send(std::uint32_t bytes) const override {
    return in_flight_ + static_cast<std::int64_t>(bytes) <= static_cast<std::int64_t>(window_);
  }
  std::uint64_t window() const override { return window_; }
  std::int64_t in_flight() const override { return in_flight_; }
  void on_hints(const engine::CongestionHints& hints) override { hinted.push_back(hints.remote_recv_peers); }

  std::vector<std::uint32_t> hinted;

 private:
  std::uint64_t window_;
  Duration gap_;
  std::int64_t in_flight_ = 0;
  Time next_ = Time::min();
};

class FixedWindows final : public CongestionMaker {
 public:
  std::uint64_t bytes = 1 << 20;
  Duration gap{};
  int made = 0;
  std::vector<engine::CongestionHints> hints;
  std::vector<std::uint32_t> seeds;
  /// Makes those of QPs with a CC profile; none: theirs are fixed too.
  std::function<std::unique_ptr<engine::Congestion>(const CongestionRequest&)> of_profile;
  std::unique_ptr<engine::Congestion> make(const CongestionRequest& request) override {
    if (request.cc_profile != 0 && of_profile) return of_profile(request);
    ++made;
    hints.push_back(request.hints);
    seeds.push_back(request.seed);
    return std::make_unique<FixedWindow>(bytes, gap);
  }
};

/// Remembers what it was told.
struct Diary final : Observer {
  std::vector<CompletionQueue*> notified, overrun;
  std::vector<Qpn> failed, established;
  std::vector<EndpointResult> endpoint_results;
  std::vector<PortMask> peer_ports;

  void on_cq_notify(CompletionQueue& cq) override { notified.push_back(&cq); }
  void on_cq_overrun(CompletionQueue& cq) override { overrun.push_back(&cq); }
  void on_qp_error(Qp& qp) override { failed.push_back(qp.qpn); }
  void on_established(Qp& qp) override { established.push_back(qp.qpn); }
  void on_endpoint_result(const EndpointResult& r) override { endpoint_results.push_back(r); }
  void on_peer_ports(const Peer&, PortMask up) override { peer_ports.push_back(up); }
};

/// `evs` EVs on each of `ports` ports.
PathTable make_paths(int ports, int evs);
/// 10.0.0.n
Gid address_of(int host);

struct HostOptions {
  int ports = 2;
  int evs = 8;
  NicLimits limits;
  SchedulerSettings scheduler;
  ProbeSettings probes;
  std::uint64_t window = 1 << 20;
};

/// A NIC with a CQ, a PD and memory of its own.
struct Host {
  Host(int number, const HostOptions& options);

  /// A region over all of `memory`; remote writes allowed unless said otherwise.
  RKey register_memory(bool remote_write = true, PdId pd = PdId(1));
  Sge local(std::size_t offset, std::uint32_t length) const;
  std::uint64_t va(std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(memory.data()) + offset;
  }
  std::vector<Cqe> poll();

  Gid gid;
  FixedWindows windows;
  Diary diary;
  CompletionQueue cq{1024};
  std::vector<std::byte> memory;
  RKey key;
  Nic nic;
};

/// Two hosts; what one sends arrives at the other after `delay`, unless `filter` says otherwise.
class Pair {
 public:
  explicit Pair(const HostOptions& options = {}) : a(1, options), b(2, options) {}

  /// Two QPs in RTS, connected to each other.
  struct Qps {
    Qp& a;
    Qp& b;
  };
  Qps connect(const QpConnect& like = {}, const QpSend& send = {}, QpCreate made = {});
  /// A write from a's memory at `from` to b's at `to`.
  int write(Qp& qp, std::size_t from, std::size_t to, std::uint32_t length, std::uint64_t wr_id = 1,
            std::optional<std::uint32_t> imm = {});

  /// Runs until nothing is under way and no timer is due within `quiet`, or for `most`. True when quiet.
  bool run(Duration most = 1s, Duration quiet = 5ms);

  Host a, b;
  Time now{};
  Duration delay = 5us;
  /// False drops the packet. It may change it.
  std::function<bool(Host& from, Departure& packet)> filter;
  std::uint64_t delivered = 0;

 private:
  struct Flying {
    Time arrival;
    Host* to;
    Gid source;
    wire::Packet packet;
    wire::Envelope envelope;
    std::vector<std::byte> payload;
  };
  void drain(Host& from, Host& to);
  Time next_event() const;

  std::deque<Flying> flying_;
};

}  // namespace mrc::nic::testing
