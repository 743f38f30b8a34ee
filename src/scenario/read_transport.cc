// [transport] and [queues]: what NICs and switches are set to.
#include <algorithm>

#include "engine/path_set.h"
#include "scenario/sections.h"

namespace mrc::scenario {
namespace {

using engine::CcAlgorithm;
using fabric::Forwarding;
using fabric::MarkAt;

constexpr Choice<CcAlgorithm> kCongestion[] = {
    {"nscc", CcAlgorithm::nscc}, {"constant", CcAlgorithm::constant}, {"off", CcAlgorithm::off}};
constexpr Choice<Forwarding> kForwarding[] = {
    {"usid", Forwarding::usid}, {"ecmp", Forwarding::ecmp}, {"ev", Forwarding::ev}};
constexpr Choice<sim::EvsBy> kEvsBy[] = {{"path", sim::EvsBy::path}, {"capacity", sim::EvsBy::capacity}};
constexpr Choice<sim::Transport> kProtocols[] = {{"mrc", sim::Transport::mrc},
                                                 {"roce", sim::Transport::roce}};
constexpr Choice<MarkAt> kMarkAt[] = {{"enqueue", MarkAt::enqueue}, {"dequeue", MarkAt::dequeue}};
constexpr sim::Ps kLongestTarget = 1'000'000'000'000;  // a profile counts it in 32 bits of ns
constexpr Choice<std::uint16_t> kPathMtus[] = {
    {"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}};

void read_pmtu(TableReader& r, std::uint16_t& out) {
  std::uint64_t value = out;
  r.number("pmtu", value);
  for (const auto& known : kPathMtus) {
    if (known.value == value) return void(out = known.value);
  }
  r.complain("pmtu", "must be 256, 512, 1024, 2048 or 4096");
}

void read_hints(TableReader& r, engine::CongestionHints& h) {
  r.number("qps_per_peer", h.qps_per_peer);
  r.number("send_peers", h.send_peers);
  r.number("remote_recv_peers", h.remote_recv_peers);
}

void read_paths(TableReader& r, engine::PathSettings& p) {
  r.number("active_per_plane", p.active_per_plane);
  r.number("min_active", p.min_active, 1);
  r.number("spray_unit", p.spray_unit, 1);
  r.number("probes_to_return", p.probes_to_return, 1);
  r.number("reshuffle_reach", p.reshuffle_reach);
  r.number("trials_passed_over", p.trials_passed_over);
  r.number("late_packets", p.late_packets);
  r.number("late_eighths", p.late_eighths, 8);
  r.flag("answers_follow", p.answers_follow);
  r.number("ask_ahead", p.ask_ahead, 0, 7);
  r.flag("skip_on_mark", p.skip_on_mark);
  r.flag("skip_on_trim", p.skip_on_trim);
  sim::Ps flowlet = 0;
  r.time("flowlet", flowlet);
  if (flowlet > 0)
    p.flowlet_ns = static_cast<std::uint32_t>(std::min<sim::Ps>(flowlet / sim::kPsPerNs, 1u << 30));
}

void read_roce(TableReader& r, sim::RoceSettings& s) {
  r.number("qps", s.qps, 1, 1024);
  r.flag("dcqcn", s.dcqcn);
  r.flag("pfc", s.pfc);
  r.real("pfc_xoff_bdp", s.pfc_xoff_bdp, 0.001, 100);
  r.real("pfc_xon_bdp", s.pfc_xon_bdp, 0.001, 100);
  r.time("cnp_interval", s.cnp_interval, 1);
  r.time("timeout", s.timeout, 1);
  r.number("retries", s.retries, 0, 255);
  r.number("ack_every", s.ack_every, 1);
}

void read_requestor(TableReader& r, engine::RequestorSettings& q) {
  r.number("timeout", q.timeout, 0, 24);
  r.number("tail_eighths", q.tail_eighths);
  r.number("linear_retries", q.linear_retries, 0, 7);
  r.number("exponential_retries", q.exponential_retries, 0, engine::kRetryForEver);
}

}  // namespace

void read_transport(TableReader& r, Scenario& s) {
  sim::HostSettings& h = s.world.hosts;
  read_pmtu(r, h.path_mtu);
  r.number("evs", h.evs, 1, engine::kMaxEvs);
  r.choice("evs_by", h.evs_by, kEvsBy);
  r.number("mpr", h.mpr, engine::kMinMpr);
  r.number("qps_per_pair", h.qps_per_pair, 1, 256);
  r.number("send_depth", h.send_depth, 1, 32);
  r.bytes("write_bytes", h.write_bytes, 1, 1u << 30);
  read_paths(r, h.paths);
  read_requestor(r, h.requestor);
  r.choice("protocol", h.transport, kProtocols);
  r.table("roce", [&](TableReader& in) { read_roce(in, h.roce); });
  r.bytes("sack_bytes", h.responder.sack_bytes);
  r.flag("restore_at_end", h.responder.restore_at_end);
  r.time("connect_time", h.connect_time);
  r.time("retire_after", h.retire_after);
  r.flag("wire", h.wire);
  r.choice("congestion", h.congestion, kCongestion);
  r.bytes("window", h.window, 1, 1u << 30);
  r.time("target_delay", h.target_delay, sim::kPsPerNs);
  if (h.target_delay > kLongestTarget) r.complain("target_delay", "must be at most 1s");
  r.choice("forwarding", s.world.forwarding.forwarding, kForwarding);
  r.table("hints", [&](TableReader& in) { read_hints(in, h.hints); });
}

void read_queues(TableReader& r, Scenario& s) {
  sim::QueueSettings& q = s.world.queues;
  r.real("data_bdp", q.data_bdp, 0.001, 1000);
  if (r.has("data_bdp")) q.rooms = {};  // a scenario changes what a file of a fabric says
  r.real("control_bdp", q.control_bdp, 0.001, 1000);
  r.real("ecn_low", q.ecn_low, 0, 1);
  r.real("ecn_high", q.ecn_high, 0, 1);
  if (q.ecn_high < q.ecn_low) r.complain("ecn_high", "must not be below ecn_low");
  r.flag("ecn", q.ecn);
  r.flag("trim", q.trim);
  r.bytes("trim_bytes", q.trim_bytes, sim::kLeastTrim, 4096);
  r.choice("mark_at", q.mark_at, kMarkAt);
}

}  // namespace mrc::scenario
