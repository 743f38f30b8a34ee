// What each message and each value in it consists of, once for both directions (see archive.h).
#pragma once

#include "node/archive.h"
#include "node/messages.h"

namespace mrc::node {

template <class A>
void state_field(A& a, auto& state) {
  a.choice(state, {ProfileState::init, ProfileState::offline, ProfileState::online});
}
template <class A>
void mode_field(A& a, std::optional<FormatMode>& mode) {
  a.choice(mode, {FormatMode::stev, FormatMode::srv6, FormatMode::udp});
}
template <class A>
void ev_mode_field(A& a, std::optional<EvMode>& mode) {
  a.choice(mode, {EvMode::automatic, EvMode::explicit_, EvMode::generated});
}
template <class A>
void algorithm_field(A& a, auto& algorithm) {
  using engine::CcAlgorithm;
  a.choice(algorithm, {CcAlgorithm::off, CcAlgorithm::nscc, CcAlgorithm::constant});
}
template <class A>
void ev_state_field(A& a, EvState& state) {
  a.choice(state, {EvState::good, EvState::assumed_bad, EvState::denied, EvState::unknown});
}

// ---- values ----
template <class A>
void fields(A& a, EvValue& v) {
  a(v.bits)(v.port);
}
template <class A>
void fields(A& a, EvField& v) {
  a(v.width)(v.init)(v.min)(v.max)(v.mask);
}
template <class A>
void fields(A& a, EvSlotState& v) {
  a(v.value)(v.denied)(v.bad_reports);
}
template <class A>
void fields(A& a, EvReplace& v) {
  a(v.from)(v.to)(v.all_copies);
}
template <class A>
void fields(A& a, EvSetState& v) {
  a(v.value);
  ev_state_field(a, v.state);
}
template <class A>
void fields(A& a, ResolvedEv& v) {
  a(v.ev)(v.port)(v.wire)(v.denied);
}
template <class A>
void fields(A& a, EvSet& v) {
  a.list(v.evs, kMaxEntries)(v.min_active);
  a.choice(v.format, {FormatMode::stev, FormatMode::srv6, FormatMode::udp});
}
template <class A>
void fields(A& a, ProfileLimits& v) {
  a(v.formats)(v.ev_profiles)(v.cc_profiles)(v.evs)(v.evs_per_profile)(v.ev_count_align)(v.op_entries);
  a(v.format_fields)(v.ports)(v.format_modes);
}

// ---- profiles and changes ----
template <class A>
void fields(A& a, FormatProfile& v) {
  state_field(a, v.state);
  mode_field(a, v.mode);
  a.list(v.widths, kMaxEntries)(v.vendor);
}
template <class A>
void fields(A& a, EvProfile& v) {
  state_field(a, v.state);
  ev_mode_field(a, v.mode);
  a(v.format)(v.count)(v.min_active)(v.event_mask);
  a.list(v.fields, kMaxEntries).list(v.slots, kMaxEntries)(v.vendor)(v.users);
}
template <class A>
void fields(A& a, CcProfile& v) {
  state_field(a, v.state);
  algorithm_field(a, v.algorithm);
  a(v.config)(v.vendor)(v.users);
}
template <class A>
void fields(A& a, FormatChange& v) {
  state_field(a, v.state);
  state_field(a, v.expected);
  mode_field(a, v.mode);
  a.list(v.widths, kMaxEntries)(v.vendor);
}
template <class A>
void fields(A& a, EvChange& v) {
  state_field(a, v.state);
  state_field(a, v.expected);
  ev_mode_field(a, v.mode);
  a(v.format)(v.count)(v.min_active)(v.event_mask);
  a.list(v.fields, kMaxEntries).list(v.replaces, kMaxEntries).list(v.states, kMaxEntries)(v.vendor);
}
template <class A>
void fields(A& a, CcChange& v) {
  state_field(a, v.state);
  state_field(a, v.expected);
  algorithm_field(a, v.algorithm);
  a(v.config)(v.vendor);
}

// ---- facts ----
template <class A>
void fields(A& a, PortCounters& v) {
  a(v.rx_packets)(v.rx_bytes)(v.tx_packets)(v.tx_bytes)(v.tx_discarded)(v.rx_overrun)(v.rx_stray);
}
template <class A>
void fields(A& a, PortFacts& v) {
  a(v.port)(v.interface)(v.address)(v.admin_enabled)(v.link_up)(v.link_mtu)(v.bits_per_second)(v.counters);
}
template <class A>
void fields(A& a, QpTotals& v) {
  a(v.tx_packets)(v.tx_bytes)(v.repairs)(v.repeats)(v.timeouts)(v.probes)(v.rx_packets)(v.rx_bytes);
  a(v.duplicates)(v.trims)(v.marks)(v.refused)(v.failed_qps);
}
template <class A>
void fields(A& a, EvFacts& v) {
  a(v.ev)(v.port);
  a.choice(v.state, {EvFactState::good, EvFactState::skip, EvFactState::assumed_bad, EvFactState::denied});
}
template <class A>
void fields(A& a, QpFacts& v) {
  using S = QpFactState;
  a(v.qpn)(v.remote_qpn).choice(v.state, {S::reset, S::init, S::rtr, S::rts, S::error});
  a(v.peer)(v.ev_profile)(v.cc_profile)(v.service_level);
  a(v.tx_packets)(v.tx_bytes)(v.repairs)(v.repeats)(v.probes)(v.lost_by_order)(v.lost_by_silence)(
      v.lost_by_timeout);
  a(v.nacked)(v.retries)(v.rtt_ns)(v.window)(v.in_flight)(v.unacked)(v.posted);
  a(v.rx_packets)(v.rx_bytes)(v.duplicates)(v.trims)(v.marks)(v.sacks)(v.nacks);
  for (auto& n : v.evs_in_state) a(n);
  a.list(v.evs, kMaxEvsPerQp);
}
template <class A>
void fields(A& a, ProcessFacts& v) {
  a(v.pid)(v.uid)(v.program)(v.device)(v.first_qpn)(v.last_qpn)(v.taken_ns)(v.answered)(v.qp_count);
  a(v.totals).list(v.ports, kMaxDevicePorts);
}
template <class A>
void fields(A& a, DeviceFacts& v) {
  a(v.name)(v.guid).list(v.ports, kMaxDevicePorts)(v.totals)(v.formats)(v.ev_profiles)(v.cc_profiles);
}
template <class A>
void fields(A& a, Snapshot& v) {
  a(v.mrcd_pid)(v.host)(v.version)(v.time_ns)(v.uptime_ns)(v.truncated).list(v.devices, kMaxEntries);
}

// ---- messages ----
template <class A>
void fields(A& a, PortPlace& v) {
  a(v.interface)(v.address);
}
template <class A>
void fields(A& a, Hello& v) {
  a(v.protocol)(v.network)(v.program)(v.device)(v.guid).list(v.ports, kMaxDevicePorts);
  a(v.first_qpn)(v.last_qpn)(v.life);
}
template <class A>
void fields(A& a, Welcome& v) {
  a(v.protocol)(v.pid)(v.version)(v.limits)(v.receive_challenge)(v.send_challenge)(v.disabled_ports);
}
template <class A>
void fields(A& a, Answer& v) {
  a(v.error)(v.entry)(v.what);
}
template <class A, class T>
requires std::is_same_v<T, Prove> || std::is_same_v<T, GetProfiles> || std::is_same_v<T, GetDevices>
void fields(A& a, T& v) { a(v.unused); }
template <class A, class T>
requires std::is_same_v<T, ModifyFormat> || std::is_same_v<T, ModifyEv> || std::is_same_v<T, ModifyCc>
void fields(A& a, T& v) { a(v.id)(v.change); }
template <class A, class T>
requires std::is_same_v<T, GetFormat> || std::is_same_v<T, GetEv> || std::is_same_v<T, GetCc> ||
    std::is_same_v<T, AcquireEv> || std::is_same_v<T, AcquireCc> || std::is_same_v<T, ReleaseEv> ||
    std::is_same_v<T, ReleaseCc>
void fields(A& a, T& v) { a(v.id); }
template <class A, class T>
requires std::is_same_v<T, FormatIs> || std::is_same_v<T, EvIs> || std::is_same_v<T, CcIs>
void fields(A& a, T& v) { a(v.profile); }
template <class A>
void fields(A& a, ProfileLine& v) {
  a.choice(v.kind, {ProfileKind::format, ProfileKind::ev, ProfileKind::cc})(v.id);
  state_field(a, v.state);
  a(v.users)(v.count);
}
template <class A>
void fields(A& a, ProfilesAre& v) {
  a(v.free_evs).list(v.profiles, kMaxEntries);
}
template <class A>
void fields(A& a, EvAcquired& v) {
  a(v.id)(v.set);
}
template <class A>
void fields(A& a, CcAcquired& v) {
  a(v.id)(v.profile);
}
template <class A>
void fields(A& a, ReportEv& v) {
  a(v.id)(v.slot)(v.bad);
}
template <class A>
void fields(A& a, EvHolding& v) {
  a(v.id)(v.users).list(v.bad, kMaxEntries);
}
template <class A>
void fields(A& a, CcHolding& v) {
  a(v.id)(v.users);
}
template <class A>
void fields(A& a, Holdings& v) {
  a.list(v.evs, kMaxEntries).list(v.ccs, kMaxEntries);
}
template <class A>
void fields(A& a, HeldEv& v) {
  a(v.id).list(v.denied, kMaxEntries);
}
template <class A>
void fields(A& a, Held& v) {
  a.list(v.evs, kMaxEntries);
}
template <class A>
void fields(A& a, EvDenied& v) {
  a(v.id)(v.slot)(v.denied);
}
template <class A>
void fields(A& a, SetPort& v) {
  a(v.port)(v.enabled);
}
template <class A>
void fields(A& a, PortsDisabled& v) {
  a(v.mask);
}
template <class A>
void kind_field(A& a, EventKind& kind) {
  using K = EventKind;
  a.choice(kind, {K::ev_state, K::port_link, K::port_admin, K::process_joined, K::process_left,
                  K::profile_changed, K::qp_failed});
}
template <class A>
void fields(A& a, NodeEvent& v) {
  a(v.time_ns);
  kind_field(a, v.kind);
  a(v.device)(v.pid)(v.port)(v.up);
  a.choice(v.profile_kind, {ProfileKind::format, ProfileKind::ev, ProfileKind::cc});
  a(v.profile)(v.value);
  ev_state_field(a, v.state);
  a(v.qpn)(v.dropped);
}
template <class A>
void fields(A& a, Subscribe& v) {
  a(v.kinds);
}
template <class A>
void fields(A& a, Happened& v) {
  kind_field(a, v.kind);
  a(v.port)(v.up)(v.qpn);
}
template <class A, class T>
requires std::is_same_v<T, GetSnapshot> || std::is_same_v<T, Collect>
void fields(A& a, T& v) { a(v.with_evs); }
template <class A>
void fields(A& a, SnapshotHead& v) {
  a(v.snapshot);
}
template <class A>
void fields(A& a, DevicesAre& v) {
  a.list(v.devices, kMaxEntries);
}
template <class A>
void fields(A& a, Report& v) {
  a(v.process);
}
template <class A>
void fields(A& a, QpPart& v) {
  a.list(v.qps, kMaxQpsPerPart);
}

}  // namespace mrc::node

namespace mrc::engine {
template <class A>
void fields(A& a, NsccConfig& v) {
  a(v.disable_qa)(v.qa_gate)(v.adjust_bytes_threshold)(v.adjust_period_threshold)(v.base_rtt);
  a(v.eta)(v.fi)(v.fi_scale)(v.gamma)(v.max_md_jump)(v.max_cwnd)(v.qa_threshold)(v.target_delay);
  a(v.mtu)(v.proportional)(v.fast_delay)(v.qa_on_loss)(v.qa_covers_flight);
  a(v.pace_below_mtu)(v.incast_mode)(v.min_share)(v.incast_paced)(v.paced_backoff);
  a(v.incast_gain)(v.incast_fast)(v.incast_low)(v.incast_step)(v.incast_paced_step)(v.incast_high);
}
template <class A>
void fields(A& a, CcProfile& v) {
  node::algorithm_field(a, v.algorithm);
  a(v.nscc);
}
}  // namespace mrc::engine
