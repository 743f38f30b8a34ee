#include "lib/nic_qp.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "lib/nic_cq.h"
#include "lib/nic_device.h"

namespace mrc::lib {
namespace {

using engine::QpState;
using engine::WorkStatus;

std::uint64_t total_length(std::span<const Sge> sges) {
  std::uint64_t length = 0;
  for (const Sge& sge : sges) length += sge.length;
  return length;
}

constexpr std::uint8_t kLongestTimeout = 24;

nic::PathTable paths_of(const node::EvSet& set) {
  std::vector<engine::Path> paths;
  for (const node::ResolvedEv& ev : set.evs) paths.push_back({ev.ev, ev.port});
  return std::make_shared<const std::vector<engine::Path>>(std::move(paths));
}

/// SRv6: the wire bits are the uSID carrier, or two.
nic::CarrierTable carriers_of(const node::EvSet& set) {
  if (set.format != node::FormatMode::srv6) return nullptr;
  std::vector<nic::Carrier> carriers;
  for (const node::ResolvedEv& ev : set.evs) {
    nic::Carrier& carrier = carriers.emplace_back();
    std::memcpy(carrier.first.bytes.data(), ev.wire.data(), carrier.first.bytes.size());
    wire::IpAddress second;
    std::memcpy(second.bytes.data(), ev.wire.data() + carrier.first.bytes.size(), second.bytes.size());
    if (second != wire::IpAddress{}) carrier.second = second;
  }
  return std::make_shared<const std::vector<nic::Carrier>>(std::move(carriers));
}

engine::RequestorSettings requestor_settings(const QpAttributes& a) {
  engine::RequestorSettings s;
  s.timeout = a.timeout == 0 ? kLongestTimeout : a.timeout;
  s.linear_retries = a.linear_retries;
  s.exponential_retries = a.timeout == 0 ? engine::kRetryForEver : a.exponential_retries;
  s.trimmable = a.peer_trim_nack;
  return s;
}

/// Traffic class 0 is what programs pass that have no wish: the deployment's classes.
std::uint8_t dscp_of(const QpAttributes& a) {
  return a.traffic_class == 0 ? nic::kDscpByClass : static_cast<std::uint8_t>(a.traffic_class >> 2);
}

/// What the two ends agreed on before the first packet.
bool same_connection(const QpAttributes& a, const QpAttributes& b) {
  return a.remote_gid == b.remote_gid && a.remote_qpn == b.remote_qpn && a.receive_psn == b.receive_psn &&
         a.send_psn == b.send_psn && a.path_mtu == b.path_mtu;
}

}  // namespace

NicCq& NicQp::send_cq() const { return static_cast<NicCq&>(*init_.send_cq); }
NicCq& NicQp::recv_cq() const { return static_cast<NicCq&>(*init_.recv_cq); }

QpState NicQp::state() const {
  const NicDevice::Hold hold(device_);
  return qp_->state;
}

std::size_t NicQp::send_room() const {
  const NicDevice::Hold hold(device_);
  if (!qp_->engine) return init_.send_depth;
  const std::size_t open = qp_->engine->requestor().queue().outstanding() + fenced_.size();
  const std::size_t used = std::max<std::size_t>(open, static_cast<std::size_t>(std::max(unpolled(), 0)));
  return init_.send_depth - std::min<std::size_t>(init_.send_depth, used);
}

void NicQp::drop_completions() {
  std::unique_lock send_consumers(send_cq().consumers());
  std::unique_lock<std::mutex> recv_consumers;
  if (&send_cq() != &recv_cq()) recv_consumers = std::unique_lock(recv_cq().consumers());
  for (NicCq* cq : {&send_cq(), &recv_cq()}) cq->ring().purge(qp_->qpn);
  signaled_ = 0;
  polled_ = 0;
}

int NicQp::modify(QpState next, const QpAttributes& attributes) {
  Profiles profiles;
  const bool others =
      attributes.ev_profile != attributes_.ev_profile || attributes.cc_profile != attributes_.cc_profile;
  if (next == QpState::init && (others || state() != QpState::init)) profiles = acquire_profiles(attributes);
  const NicDevice::Hold hold(device_);
  if (!device_.alive()) return ENODEV;
  nic::Nic& nic = device_.nic();
  const Time now = steady_now();
  int error = EINVAL;
  if (next == qp_->state && next != QpState::reset) {
    error = change_in_place(attributes, std::move(profiles));
    if (error == 0) attributes_ = attributes;
    device_.transmit_soon(now, true);
    return error;
  }
  switch (next) {
    case QpState::reset:
      reads_.clear();
      fenced_.clear();
      device_.retire(*qp_);
      error = nic.reset(now, *qp_);
      drop_completions();
      release_profiles();
      break;
    case QpState::init:
      error = profiles.error;
      adopt_profiles(attributes, std::move(profiles));
      if (error == 0) error = nic.init(*qp_);
      if (error != 0) release_profiles();
      break;
    case QpState::rtr: error = connect(now, attributes); break;
    case QpState::rts: error = start(now, attributes); break;
    case QpState::error: error = nic.stop(now, *qp_); break;
  }
  if (error == 0) attributes_ = attributes;
  device_.transmit_now(now);  // completions of what was flushed
  return error;
}

// MRC-API-024: a change without a transition takes effect: profiles and hints before the QP is connected;
// afterwards hints, class, service level, access, timeout and retries.
int NicQp::change_in_place(const QpAttributes& a, Profiles profiles) {
  if (qp_->state == QpState::init) {
    if (a.ev_profile == attributes_.ev_profile && a.cc_profile == attributes_.cc_profile) return 0;
    if (profiles.error == 0) return adopt_profiles(a, std::move(profiles)), 0;
    if (profiles.evs) device_.profiles().release_ev(a.ev_profile);
    return profiles.error;  // and keeps those that it had
  }
  if (!qp_->engine) return 0;
  if (!same_connection(a, attributes_) || !device_.may_send_in(dscp_of(a))) return EINVAL;
  return device_.nic().adjust(*qp_, {.remote_write = a.remote_write,
                                     .service_level = a.service_level,
                                     .dscp = dscp_of(a),
                                     .hints = a.hints,
                                     .requestor = requestor_settings(a)});
}

int NicQp::connect(Time now, const QpAttributes& a) {
  if (!device_.may_send_in(dscp_of(a))) return EINVAL;
  if (is_v4(a.remote_gid) != is_v4(device_.config().ports[0].address)) return EAFNOSUPPORT;
  const auto addresses = device_.peer_addresses(a.remote_gid, a.port);
  nic::QpConnect c;
  c.peer.bytes = a.remote_gid;
  c.peer_addresses = addresses;
  c.remote = a.remote_qpn;
  c.receive_psn = a.receive_psn;
  c.path_mtu = a.path_mtu;
  c.mpr_dest = a.mpr_dest;
  c.max_wimm_dest = a.max_wimm_dest;
  c.dynamic_mpr = a.dynamic_mpr;
  c.remote_write = a.remote_write;
  c.service_level = a.service_level;
  c.dscp = dscp_of(a);
  c.cc_profile = a.cc_profile;
  c.hints = a.hints;
  c.path_settings.spray_unit = device_.spray_unit(a.path_mtu);
  c.path_settings.ask_ahead = device_.settings().ask_ahead;
  c.path_settings.answers_follow = device_.settings().answers_follow;
  c.responder.sack_bytes = device_.sack_bytes(a.path_mtu);
  c.responder.restore_at_end = device_.settings().restore_at_end;
  c.responder.trim_nack = a.peer_trim_nack;
  c.responder.service_time = a.peer_service_time;
  if (evs_) {
    c.paths = paths_of(*evs_);
    c.carriers = carriers_of(*evs_);
    c.path_settings.min_active = static_cast<std::uint16_t>(evs_->min_active);
    c.sink = device_.path_sink();
  }
  const int error = device_.nic().connect(now, *qp_, c);
  for (std::uint32_t slot = 0; error == 0 && evs_ && slot < evs_->evs.size(); ++slot) {
    if (evs_->evs[slot].denied) set_denied(now, slot, true);
  }
  return error;
}

int NicQp::start(Time now, const QpAttributes& a) {
  nic::QpSend s;
  s.send_psn = a.send_psn;
  s.mpr = a.mpr;
  s.max_wimm = a.max_wimm;
  s.requestor = requestor_settings(a);
  s.requestor.reverse_probe_packets = device_.settings().reverse_probe_packets;
  s.requestor.reverse_probe_trickle = device_.settings().reverse_probe_trickle;
  s.requestor.initial_rtt = device_.settings().initial_rtt;
  s.requestor.suspect_slack = device_.settings().suspect_slack;
  s.requestor.tail_eighths = device_.settings().tail;
  return device_.nic().start(now, *qp_, s);
}

QueuePair::Posted NicQp::post_send(std::span<const SendRequest> requests) {
  const NicDevice::Hold hold(device_);
  if (!device_.alive()) return {ENODEV, 0};
  const Time now = steady_now();
  const std::size_t few = device_.settings().few;
  const bool is_quiet = qp_->engine && qp_->engine->requestor().queue().outstanding() <= few &&
                        device_.nic().pool().used_slabs() <= few;
  Posted posted;
  for (; posted.count < requests.size(); ++posted.count) {
    const SendRequest& r = requests[posted.count];
    posted.error = is_full(r) ? ENOMEM : waits(r) ? keep_behind_fence(r) : post_next(now, r);
    if (posted.error != 0) break;
    signaled_ += r.signaled ? 1 : 0;
  }
  device_.transmit_soon(now, is_quiet);
  return posted;
}

int NicQp::post_next(Time now, const SendRequest& r) {
  return r.op == SendOp::read ? post_read(now, r) : post_one(now, r);
}

int NicQp::post_one(Time now, const SendRequest& r) {
  static_assert(sizeof(Sge) == sizeof(nic::Sge));
  nic::Sge sges[nic::kMaxSge];
  if (r.sges.size() > nic::kMaxSge) return EINVAL;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < r.sges.size(); ++i) {
    sges[i] = {r.sges[i].address, r.sges[i].length, RKey(r.sges[i].lkey)};
    length += r.sges[i].length;
    if (r.inline_data || r.sges[i].length == 0) continue;
    const nic::Region* region = device_.nic().regions().find(sges[i].lkey);
    if (region == nullptr || region->pd != qp_->made.pd) return EINVAL;
  }
  if (length > UINT32_MAX) return EINVAL;
  nic::SendRequest request;
  request.work = {.wr_id = r.wr_id,
                  .remote_va = r.remote_va,
                  .rkey = RKey(r.rkey),
                  .length = static_cast<std::uint32_t>(length),
                  .imm = r.imm,
                  .has_imm = r.op == SendOp::write_imm,
                  .signaled = r.signaled,
                  .solicited = r.solicited};
  request.sges = std::span(sges, r.sges.size());
  request.inline_data = r.inline_data;
  return device_.nic().post_send(now, *qp_, request);
}

/// A read travels as an empty write: when that is done, so is all work before it, and the bytes are copied.
int NicQp::post_read(Time now, const SendRequest& r) {
  if (!device_.owns(attributes_.remote_gid) || device_.nic().find(attributes_.remote_qpn) == nullptr)
    return EOPNOTSUPP;
  if (total_length(r.sges) > UINT32_MAX) return EINVAL;
  nic::SendRequest request;
  request.work = {.wr_id = r.wr_id, .signaled = true, .tag = kReadTag};
  if (const int error = device_.nic().post_send(now, *qp_, request); error != 0) return error;
  reads_.push_back({r.wr_id, r.remote_va, r.rkey, r.signaled, {r.sges.begin(), r.sges.end()}});
  return 0;
}

bool NicQp::finish_read(nic::Cqe& entry) {
  if (reads_.empty()) return true;
  const Read read = std::move(reads_.front());
  reads_.pop_front();
  if (reads_.empty() && !fenced_.empty()) device_.note_unfenced(*this);
  entry.length = static_cast<std::uint32_t>(total_length(read.sges));
  if (entry.status == WorkStatus::success) entry.status = copy(read);
  return read.signaled || entry.status != WorkStatus::success;
}

WorkStatus NicQp::copy(const Read& read) const {
  const nic::Qp* peer = device_.nic().find(attributes_.remote_qpn);
  if (peer == nullptr) return WorkStatus::retry_exceeded;
  const std::byte* from = device_.readable(peer->made.pd, read.rkey, read.remote_va, total_length(read.sges));
  if (from == nullptr && total_length(read.sges) > 0) return WorkStatus::remote_access_error;
  for (const Sge& sge : read.sges) {
    std::byte* to = nullptr;
    const auto access =
        device_.nic().regions().check_local(qp_->made.pd, RKey(sge.lkey), sge.address, sge.length, to);
    if (access != nic::RegionTable::Access::ok) return WorkStatus::local_protection_error;
    if (sge.length != 0) std::memmove(to, from, sge.length);
    from += sge.length;
  }
  return WorkStatus::success;
}

QueuePair::Posted NicQp::post_receive(std::span<const std::uint64_t> wr_ids) {
  const NicDevice::Hold hold(device_);
  if (!device_.alive()) return {ENODEV, 0};
  Posted posted;
  for (; posted.count < wr_ids.size(); ++posted.count) {
    posted.error = device_.nic().post_receive(*qp_, wr_ids[posted.count]);
    if (posted.error != 0) break;
  }
  if (qp_->state == QpState::error) device_.transmit_now(steady_now());
  return posted;
}

}  // namespace mrc::lib
