#include "tools/sent_packets.h"

#include <algorithm>

namespace mrc::tools {

std::int64_t SentPackets::unwrap(Psn psn) {
  if (!any_) newest_ = psn.value();
  any_ = true;
  const std::int64_t key = newest_ + (psn - Psn(static_cast<std::uint32_t>(newest_)));
  newest_ = std::max(newest_, key);
  return key;
}

bool SentPackets::is_acknowledged(std::int64_t key) const {
  if (cumulative_ && key <= *cumulative_) return true;
  const auto it = records_.find(key);
  return it != records_.end() && it->second.acknowledged;
}

Sending SentPackets::make_repair(Time now, const Record& record, bool acknowledged) const {
  Sending sending{Sending::Kind::repair, record.cause, {}, {}};
  if (record.first_sent == kNever) {
    if (record.evidence == kNever) sending.cause = RepairCause::first_unseen;
  } else {
    sending.since_first = now - record.first_sent;
    sending.since_evidence = now - record.last_sent;
  }
  if (record.evidence != kNever) sending.since_evidence = now - record.evidence;
  if (acknowledged) sending.cause = RepairCause::already_acknowledged;
  return sending;
}

Sending SentPackets::note_write(Time now, Psn psn, Ev ev, const wire::Write& write) {
  const std::int64_t key = unwrap(psn);
  const bool acknowledged = is_acknowledged(key);
  Record& record = records_[key];
  Sending sending;
  if (write.retransmitted) {
    // The same sending can pass the capture twice (two interfaces of one machine): the path tells.
    const bool again = record.last_sent != kNever && record.ev == ev && record.first_sent != record.last_sent;
    sending = again ? Sending{Sending::Kind::seen_again, {}, {}, {}} : make_repair(now, record, acknowledged);
  } else if (record.last_sent != kNever || (cumulative_ && key <= *cumulative_)) {
    sending.kind = Sending::Kind::seen_again;
  }
  if (sending.kind != Sending::Kind::seen_again) {
    ++totals_.sent;
    ++evs_[ev].sent;
  }
  if (sending.kind == Sending::Kind::repair) {
    ++totals_.repaired[static_cast<int>(sending.cause)];
    const bool told = sending.cause == RepairCause::nack || sending.cause == RepairCause::trimmed;
    if (told) totals_.slowest_repair = std::max(totals_.slowest_repair, sending.since_evidence);
    if (sending.cause == RepairCause::inferred) ++evs_[record.ev].lost;
  }
  if (record.first_sent == kNever) record.first_sent = now;
  record.last_sent = now;
  record.ev = ev;
  record.evidence = kNever;
  record.cause = RepairCause::inferred;
  record.acknowledged = acknowledged;
  return sending;
}

void SentPackets::note_trimmed(Time now, Psn psn, Ev ev) {
  Record& record = records_[unwrap(psn)];
  ++totals_.trimmed;
  ++evs_[ev].trimmed;
  if (record.evidence != kNever) return;
  record.evidence = now;
  record.cause = RepairCause::trimmed;
}

void SentPackets::note_nack(Time now, const wire::Nack& nack) {
  Record& record = records_[unwrap(nack.nack_psn)];
  ++evs_[nack.entropy].nacked;
  record.evidence = now;
  record.cause = RepairCause::nack;
}

std::uint64_t SentPackets::acknowledge(std::int64_t key) {
  const auto it = records_.find(key);
  if (it == records_.end() || it->second.acknowledged || it->second.last_sent == kNever) return 0;
  it->second.acknowledged = true;
  ++evs_[it->second.ev].acknowledged;
  ++totals_.acknowledged;
  return 1;
}

std::uint64_t SentPackets::acknowledge_through(std::int64_t key) {
  std::uint64_t newly = 0;
  auto it = records_.begin();
  while (it != records_.end() && it->first <= key) {
    newly += acknowledge(it->first);
    it = records_.erase(it);
  }
  cumulative_ = std::max(cumulative_.value_or(key), key);
  return newly;
}

SentPackets::Acknowledged SentPackets::note_sack(Time now, const wire::Sack& sack) {
  Acknowledged result;
  if (sack.mark != wire::SackMark::none) ++evs_[sack.entropy].skipped;
  if (!sack.probe_reply) {
    const auto it = records_.find(unwrap(sack.cack_psn + sack.ack_psn_offset));
    if (it != records_.end() && it->second.last_sent != kNever)
      result.round_trip = now - it->second.last_sent;
  }
  for (int i = 0; i < 64; ++i) {
    if ((sack.bitmap >> i & 1) != 0)
      result.newly += acknowledge(unwrap(sack.cack_psn + sack.sack_offset + i));
  }
  result.newly += acknowledge_through(unwrap(sack.cack_psn));
  return result;
}

std::vector<Psn> SentPackets::open() const {
  std::vector<Psn> open;
  for (const auto& [key, record] : records_) {
    if (!record.acknowledged && record.last_sent != kNever)
      open.push_back(Psn(static_cast<std::uint32_t>(key)));
  }
  return open;
}

}  // namespace mrc::tools
