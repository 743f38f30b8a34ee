// What leaves the requestor, in this order: probes, repairs (oldest hole first), new data, what is late.
#include <bit>

#include "engine/requestor.h"
#include "engine/sizes.h"

namespace mrc::engine {

namespace {
// Who shares a window asks as often as a responder of the specification would answer unasked.
constexpr std::uint64_t kSharedWindow = ResponderSettings{}.sack_bytes;
}  // namespace

using wire::Segment;
using wire::TrafficClass;

Requestor::Requestor(Qpn remote, Psn first, const QpLimits& limits, const RequestorSettings& settings,
                     PathSet& paths, Congestion& congestion, RecordPool& pool, const Narrator& say)
    : remote_(remote),
      limits_(limits),
      settings_(settings),
      paths_(paths),
      congestion_(congestion),
      say_(say),
      flight_(pool, limits.mpr * kMprUnit, first),
      queue_(limits.send_depth, limits.path_mtu),
      clock_(static_cast<std::size_t>(paths.size()), settings.initial_rtt),
      window_(limits.mpr * kMprUnit) {}

bool Requestor::poll_transmit(Time now, PortMask room, Transmit& out, bool may_ask) {
  if (may_ask && paths_.has_probe() && !failure_ && send_probe(now, room, out)) return true;
  return poll_data(now, room, out);
}

bool Requestor::poll_data(Time now, PortMask room, Transmit& out) {
  if (failure_) return false;
  if (flight_.lost() > 0 && send_repair(now, room, out)) return true;
  return send_new(now, room, out) || send_nudge(now, room, out) || send_late(now, room, out);
}

bool Requestor::send_probe(Time now, PortMask room, Transmit& out) {
  const auto probe = paths_.poll_probe(now, room, order_.next());
  if (!probe) return false;
  order_ = order_.next();
  ++counters_.probes;
  out = {};
  out.packet = {.dqpn = remote_,
                .psn = flight_.next(),
                .body = wire::Probe{.probe_id = probe->id, .timestamp = stamp(now)}};
  // Probes ride in the data class: they must queue where data queues, or their silence would prove nothing.
  address(out, probe->slot, TrafficClass::no_trim);
  say_(now, ProbeSent{probe->slot, probe->id});
  return true;
}

/// True when the window and the pacer let a packet go; notes when to come back if it is only a matter of
/// time.
bool Requestor::may_send(Time now, Time not_before) {
  if (!window_open()) return false;
  const Time at = std::max(not_before, congestion_.next_send());
  if (at <= now) return true;
  wake_at_ = at;
  return false;
}

bool Requestor::window_open() const { return congestion_.may_send(cc_bytes_max(limits_.path_mtu)); }

/// The next new packet's length, of a full one. REQUIRES queue_.has_unsent().
int Requestor::next_eighths() const {
  const bool inside = queue_.segmenting();
  const Work& work = inside ? queue_.current() : queue_.to_start();
  const std::uint32_t offset =
      inside ? static_cast<std::uint32_t>(flight_.next() - work.first) * limits_.path_mtu : 0;
  const std::uint32_t payload = work.post.length - offset;
  if (payload >= limits_.path_mtu) return kFullPacket;
  const auto shift =
      std::bit_width(limits_.path_mtu - 1u) - std::bit_width(kFullPacket - 1u);  // of an eighth
  return std::max(1, static_cast<int>((payload + (1u << shift) - 1) >> shift));
}

/// A spray unit waits until it can leave as a whole: what a SACK frees would else leave in bits, and a port
/// that sends a unit as one train would pay for each. Only in windows of several units, so that what is in
/// flight, ours or of others, promises room for one.
int Requestor::unit() const {
  const int unit = partial_ ? 0 : paths_.next_unit(next_eighths());
  const auto bytes = static_cast<std::uint64_t>(unit) * cc_bytes_max(limits_.path_mtu);
  if (unit <= 1 || congestion_.window() < 2 * bytes) return 1;
  return queue_.all_started() ? std::min(unit, queue_.current().last() - flight_.next() + 1) : unit;
}

std::uint32_t Requestor::wants() const {
  const std::uint32_t packet = cc_bytes_max(limits_.path_mtu);
  return flight_.lost() > 0 || !queue_.has_unsent() ? packet : static_cast<std::uint32_t>(unit()) * packet;
}

bool Requestor::unit_fits() const {
  const int packets = unit();
  if (packets <= 1) return true;
  const bool window_fits =
      congestion_.may_send(static_cast<std::uint32_t>(packets) * cc_bytes_max(limits_.path_mtu));
  return window_fits && (window_ < 2 * packets || flight_.outstanding() + packets <= window_);
}

// MRC-REQ-005: repair is selective, oldest hole first, before new data, with rtx set and on another EV.
bool Requestor::send_repair(Time now, PortMask room, Transmit& out) {
  const Psn psn = flight_.first_lost();
  // MRC-REQ-003: nothing leaves beyond the window, and a shrunken window delays repairs too.
  if (psn - flight_.base() >= window_ || !may_send(now, repair_after_)) return false;
  Record& record = flight_.record(psn);
  const auto slot = choose_for_repair(now, room, EvSlot(record.slot));
  if (!slot) return false;
  flight_.relaunch(psn);
  ++counters_.repairs;
  dispatch(now, psn, *slot, true, record, out);
  return true;
}

/// Another plane, where one has room: what swallowed the packet may have swallowed more of its plane than one
/// EV.
std::optional<EvSlot> Requestor::choose_for_repair(Time now, PortMask room, EvSlot lost_on) {
  PortMask others = room;
  others.remove(paths_.path(lost_on).port);
  const auto slot = (others & paths_.usable_ports()).empty()
                        ? std::nullopt
                        : paths_.choose(now, others, lost_on, heard(now));
  return slot ? slot : paths_.choose(now, room, lost_on, heard(now));
}

/// When what was answered last had left. Once many were answered, an EV that was not stands out anyway; but
/// not where each has several packets in flight, and a few would have to carry what was meant for all.
std::optional<PathSet::Heard> Requestor::heard(Time now) const {
  constexpr int kPacketsPerEv = 2;
  if (!heard_any_) return std::nullopt;
  const bool strict = clock_.is_seasoned() && flight_.outstanding() <= kPacketsPerEv * paths_.size();
  return PathSet::Heard{strict ? Ticks(now) : heard_, clock_.typical()};
}

bool Requestor::send_new(Time now, PortMask room, Transmit& out) {
  if (!queue_.has_unsent()) return false;
  if (!queue_.segmenting() && !may_start(queue_.to_start())) return false;
  if (flight_.outstanding() >= window_) return false;  // MRC-REQ-003
  if (!may_send(now, Time::min()) || !unit_fits() || !flight_.can_extend()) return false;
  const auto slot = paths_.choose(now, room, {}, heard(now), next_eighths());
  if (!slot) return false;
  if (!owed()) progress_at_ = now;  // the ACK timeout runs from the first unanswered packet
  if (!queue_.segmenting()) queue_.start(flight_.next());
  const Psn psn = flight_.next();
  Record& record = flight_.extend();
  record.work = queue_.current_index();
  if (psn == queue_.current().last()) queue_.finish_segmenting();
  dispatch(now, psn, *slot, false, record, out);
  return true;
}

/// Everything arrived but the peer does not say that it was executed: repeat a last packet, which obliges it
/// to answer.
bool Requestor::send_nudge(Time now, PortMask room, Transmit& out) {
  if (!nudge_) return false;
  paths_.end_unit();
  const auto slot = paths_.choose(now, room);
  if (!slot) return false;
  nudge_ = false;
  const Work& work = queue_.oldest_awaiting();
  out = {};
  out.packet = {.dqpn = remote_, .psn = work.last(), .body = {}};
  wire::Write& w = out.packet.body.emplace<wire::Write>();
  write_into(w, work, work.last());
  w.retransmitted = w.ack_request = true;
  w.timestamp = stamp(now);
  out.work = static_cast<std::uint16_t>(&work - &queue_[0]);
  out.offset = work.post.length - w.payload;
  address(out, *slot, TrafficClass::trimmable_retx);
  return true;
}

// MRC-REQ-006: immediates in flight stay within what the peer can stash.
bool Requestor::may_start(const Work& work) const {
  return !work.post.has_imm || queue_.immediates_in_flight() < limits_.max_wimm;
}

std::uint16_t Requestor::payload_of(const Work& work, Psn psn) const {
  const std::uint32_t offset = static_cast<std::uint32_t>(psn - work.first) * limits_.path_mtu;
  return static_cast<std::uint16_t>(std::min<std::uint32_t>(limits_.path_mtu, work.post.length - offset));
}

// MRC-REQ-001: messages are cut at the path MTU, and every packet carries its own address.
// In place: copying a value whose fields were just written one by one waits until all of them are stored, and
// everything before them.
void Requestor::write_into(wire::Write& w, const Work& work, Psn psn) const {
  const auto index = static_cast<std::uint32_t>(psn - work.first);
  const bool starts = index == 0, ends = index + 1 == work.packets;
  w.va = work.post.remote_va + index * limits_.path_mtu;
  w.rkey = work.post.rkey;
  w.dma_length = work.post.length;
  w.payload = payload_of(work, psn);
  w.msn = work.msn;
  w.rqmsn = work.rqmsn;
  w.segment = starts ? (ends ? Segment::only : Segment::first) : (ends ? Segment::last : Segment::middle);
  w.has_imm = ends && work.post.has_imm;
  w.imm = w.has_imm ? work.post.imm : 0;
  w.solicited = ends && work.post.solicited;
  w.has_timestamp = settings_.timestamps;
}

void Requestor::dispatch(Time now, Psn psn, EvSlot slot, bool repair, Record& record, Transmit& out) {
  order_ = order_.next();
  is_new_ = partial_ = false;
  clock_.note_sent(slot, order_);
  paths_.note_sent(now, slot);
  record.sent = Ticks(now);
  record.order = order_;
  record.slot = slot.value & (kMaxEvs - 1);
  record.repaired = repair;

  const Work& work = queue_[record.work];
  out.packet.dqpn = remote_;
  out.packet.psn = psn;
  out.packet.pkey = wire::kDefaultPkey;
  wire::Write& w = out.packet.body.emplace<wire::Write>();
  write_into(w, work, psn);
  w.retransmitted = repair;
  w.timestamp = stamp(now);
  const std::uint32_t bytes = cc_bytes(w);
  congestion_.on_send(now, bytes);
  charged_ += bytes;
  w.ack_request = wants_answer(w);
  full_sized_ = full_sized_ || w.payload == limits_.path_mtu;
  ++counters_.packets;
  counters_.bytes += w.payload;
  if (check_at_ == kNever) check_at_ = now + suspicion(slot);

  out.work = record.work;
  out.offset = static_cast<std::uint32_t>(psn - work.first) * limits_.path_mtu;
  const TrafficClass trimmable = repair ? TrafficClass::trimmable_retx : TrafficClass::trimmable;
  address(out, slot, settings_.trimmable ? trimmable : TrafficClass::no_trim);
  say_(now, PacketSent{psn, slot, out.envelope.port, bytes, repair});
}

/// The A bit: asked where the responder's own thresholds would leave us waiting - at the end of what there is
/// to send, and often enough that a small congestion window keeps moving.
bool Requestor::wants_answer(const wire::Write& w) {
  unasked_bytes_ += w.payload;
  const bool tail = !queue_.has_unsent() && flight_.lost() == 0;
  const bool last_of_window = flight_.outstanding() == window_;
  const std::uint64_t quarter = congestion_.window() / 4;
  // Many QPs share the congestion window: with a small part of it each, none would pass a threshold of its
  // own. Whoever shuts it asks.
  const bool shuts = charged_ < static_cast<std::int64_t>(quarter) && !congestion_.may_send(wants());
  // And what one of them left unanswered would stay in the window until its next turn.
  const bool shares = charged_ < congestion_.in_flight();
  const std::uint64_t enough = shares ? std::min(quarter, kSharedWindow) : quarter;
  if (!tail && !last_of_window && !shuts && unasked_bytes_ < enough) return false;
  unasked_bytes_ = 0;
  return true;
}

void Requestor::address(Transmit& out, EvSlot slot, TrafficClass traffic_class) const {
  const Path& path = paths_.path(slot);
  out.slot = slot;
  out.envelope = {.ev = path.ev, .port = path.port, .traffic_class = traffic_class, .ecn = wire::Ecn::ect0};
}

wire::Timestamp Requestor::stamp(Time now) const {
  return {static_cast<std::uint16_t>(now.time_since_epoch().count() >> 7)};
}

SendState Requestor::send_state() const {
  if (!queue_.awaiting() && !queue_.has_unsent()) return SendState::idle;
  if (flight_.lost() == 0 && !queue_.has_unsent()) return SendState::pending;
  return window_open() && flight_.outstanding() < window_ ? SendState::ready : SendState::active;
}

}  // namespace mrc::engine
