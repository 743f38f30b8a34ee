#include "conform/self_device.h"

#include <algorithm>
#include <cerrno>

#include "engine/nscc.h"

namespace mrc::conform {
namespace {

constexpr Duration kWire = 1us;  // what a packet takes
constexpr std::uint16_t kDepth = 4096;
constexpr std::uint32_t kTrain = 1;  // one packet at a time: that is the conformant spray

nic::Gid gid(int plane, int number) {
  return nic::Gid::v4(10, 0, static_cast<std::uint8_t>(plane), static_cast<std::uint8_t>(number));
}
port::Address host(int plane, int number) { return {gid(plane, number).bytes}; }

nic::testing::HostOptions host_options(const SelfOptions& o) {
  nic::testing::HostOptions h;
  h.ports = o.planes;
  h.evs = o.evs;
  h.window = std::uint64_t{1} << 30;  // of a QP without a CC profile: MPR alone holds it
  h.limits.packets_in_flight = 65536;
  return h;
}

}  // namespace

SelfDevice::SelfDevice(const SelfOptions& options) : options_(options) {
  using datapath::testing::MemoryPort;
  std::vector<port::Port*> ports;
  for (int p = 0; p < options_.planes; ++p) {
    tester_.push_back(std::make_unique<MemoryPort>(host(p, 1), kTrain));
    auto wire = std::make_unique<MemoryPort>(host(p, 2), kTrain);
    wire_.push_back(wire.get());
    tester_.back()->join(*wire);
    ports_.push_back(options_.wrap ? options_.wrap(std::move(wire)) : std::move(wire));
    ports.push_back(ports_.back().get());
  }
  station_ = std::make_unique<datapath::testing::Station>(2, host_options(options_), ports);
}

port::Address SelfDevice::device(int plane) const { return host(plane, 2); }

Result<Target> SelfDevice::connect(const Terms& wanted) {
  turn();  // what still flies belongs to the QP before
  Terms terms = wanted;
  nic::Nic& nic = station_->host.nic;
  if (qp_ != nullptr) nic.destroy_qp(now_, *qp_);
  (void)station_->host.poll();
  nic::QpConnect c;
  std::vector<nic::Gid> peers;
  for (int p = 0; p < options_.planes; ++p) peers.push_back(gid(p, 1));
  c.peer = peers.front();
  c.peer_addresses = peers;
  c.remote = terms.qpn;
  c.receive_psn = terms.psn;
  c.path_mtu = terms.mtu;
  nic::QpSend s;
  s.send_psn = Psn(0xFFFFA0);
  s.mpr = terms.mpr;
  s.max_wimm = terms.max_wimm;
  s.requestor.timeout = terms.timeout;
  s.requestor.linear_retries = terms.linear_retries;
  s.requestor.exponential_retries = terms.exponential_retries;
  const Target target{{}, s.send_psn, rkey(), va(), 1 << 20, terms.mtu, c.mpr_dest, c.max_wimm_dest};
  if (options_.adjust) options_.adjust(c, s, terms);
  use_congestion(terms, c);
  qp_ = nic.create_qp({.pd = nic::PdId(1),
                       .send_cq = &station_->host.cq,
                       .recv_cq = &station_->host.cq,
                       .send_depth = kDepth,
                       .recv_depth = kDepth});
  if (qp_ == nullptr) return Error{ENOMEM, "no room for another QP"};
  nic.init(*qp_);
  nic.connect(now_, *qp_, c);
  nic.start(now_, *qp_, s);
  for (int i = 0; i < terms.receives; ++i) nic.post_receive(*qp_, 1000u + static_cast<std::uint64_t>(i));
  Target named = target;
  named.qpn = qp_->qpn;
  return named;
}

void SelfDevice::use_congestion(const Terms& terms, nic::QpConnect& c) {
  if (terms.congestion.window == 0) return;
  c.cc_profile = 1;
  const engine::NsccConfig profile = terms.congestion.profile(terms.mtu);
  station_->host.windows.of_profile = [this, profile](const nic::CongestionRequest& request) {
    std::unique_ptr<engine::Congestion> made =
        std::make_unique<engine::Nscc>(profile, request.hints, request.seed);
    return options_.congestion ? options_.congestion(std::move(made)) : std::move(made);
  };
}

Status SelfDevice::post(const std::vector<PostedWrite>& writes) {
  for (const PostedWrite& w : writes) {
    const nic::Sge sge = station_->host.local(0, w.length);
    const nic::SendRequest request{{.wr_id = w.id,
                                    .remote_va = kTesterVa,
                                    .rkey = kTesterKey,
                                    .length = w.length,
                                    .imm = w.imm,
                                    .has_imm = w.has_imm},
                                   std::span(&sge, 1)};
    if (const int error = station_->host.nic.post_send(now_, *qp_, request); error != 0) {
      return Error{error, "a write can't be posted"};
    }
  }
  return Done{};
}

Result<std::vector<Completed>> SelfDevice::completions() {
  turn();
  std::vector<Completed> all;
  for (const nic::Cqe& e : station_->host.poll()) {
    all.push_back({e.wr_id, e.kind == engine::CompletionKind::receive, e.status, e.has_imm, e.imm});
  }
  return all;
}

Result<std::vector<std::uint8_t>> SelfDevice::memory(std::uint32_t offset, std::uint32_t length) {
  turn();
  const auto* from = reinterpret_cast<const std::uint8_t*>(bytes()) + offset;
  return std::vector<std::uint8_t>(from, from + length);
}

Status SelfDevice::deny(Ev ev) {
  const auto paths = nic::testing::make_paths(options_.planes, options_.evs);
  for (std::size_t i = 0; i < paths->size(); ++i) {
    if ((*paths)[i].ev != ev) continue;
    station_->host.nic.set_ev_state(now_, *qp_, EvSlot(static_cast<std::uint16_t>(i)),
                                    engine::EvState::denied);
    return Done{};
  }
  return Error{ENOENT, "no such EV"};
}

void SelfDevice::turn() {
  while (station_->driver.turn(now_)) {
  }
}

std::uint64_t SelfDevice::sent() const {
  std::uint64_t packets = 0;
  for (const auto* wire : wire_) packets += wire->counters().tx_packets;
  return packets;
}

void SelfDevice::wait(Time until) {
  const std::uint64_t before = sent();
  turn();
  if (sent() == before)
    now_ = std::max(now_, std::min(until, station_->driver.next_timeout()));
  else
    now_ += kWire;
  turn();
}

}  // namespace mrc::conform
