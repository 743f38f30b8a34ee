#include "tools/story.h"

#include <cstdio>

#include "tools/text.h"
#include "wire/print.h"

namespace mrc::tools {
namespace {

using Way = Conversation::Way;

Way opposite(Way way) { return way == Way::to_qp ? Way::to_peer : Way::to_qp; }

std::string microseconds(Duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", static_cast<double>(d.count()) / 1000);
  return text;
}

std::string psn_text(Psn psn) { return "PSN " + std::to_string(psn.value()); }
std::string ev_text(Ev ev) { return "EV " + hex(ev.value, 8); }

StoryField number(std::string_view name, std::uint64_t v) { return {name, v}; }
StoryField word(std::string_view name, std::string v) { return {name, std::move(v)}; }
std::string text_of(auto value) { return std::string(wire::name(value)); }

/// Kept apart from remarks in the sentence: programs group by this.
const char* cause_name(RepairCause cause) {
  switch (cause) {
    case RepairCause::nack: return "nack";
    case RepairCause::trimmed: return "trimmed";
    case RepairCause::inferred: return "inferred";
    case RepairCause::already_acknowledged: return "already_acknowledged";
    case RepairCause::first_unseen: return "first_unseen";
  }
  return "unknown";
}

std::string repair_text(const Sending& sending) {
  const std::string since = microseconds(sending.since_evidence);
  switch (sending.cause) {
    case RepairCause::nack: return ", repaired " + since + " after its NACK";
    case RepairCause::trimmed: return ", repaired " + since + " after it was trimmed";
    case RepairCause::inferred: return ", repaired without a NACK, " + since + " after it was last sent";
    case RepairCause::already_acknowledged: return ", sent again although it had been acknowledged";
    case RepairCause::first_unseen: return ", a repair; its first sending is not in this capture";
  }
  return {};
}

bool is_trustworthy(Verdict v) {
  // A sender's own capture holds UDP checksums that the NIC has yet to fill in.
  return v == Verdict::ok || v == Verdict::trimmed_ok || v == Verdict::bad_udp_checksum;
}

}  // namespace

struct Story::Scene {
  const SeenPacket& seen;
  Way way;
  SentPackets& sent;  // the writes that this packet is, or is about

  Time time() const { return seen.frame.time; }
  Ev ev() const { return seen.parsed.envelope.ev; }
  Psn psn() const { return seen.parsed.packet.psn; }
};

void Story::note(const SeenPacket& seen) {
  const Way way = conversation_.way_of(seen);
  // BTH alone is enough for a trimmed write; any other packet needs its body.
  if (way == Way::none || !is_trustworthy(seen.verdict)) return;
  const wire::Body& body = seen.parsed.packet.body;
  const bool forward = std::holds_alternative<wire::Write>(body) || std::holds_alternative<wire::Probe>(body);
  const Way about = forward ? way : opposite(way);
  const Scene scene{seen, way, about == Way::to_qp ? to_qp_ : to_peer_};
  StoryEvent event{seen.frame.number, seen.frame.time, way, {}, {}, {}};
  std::visit([&](const auto& b) { on(b, scene, event); }, body);
  if (!event.kind.empty()) tell_(event);
}

void Story::on(const wire::Write& w, const Scene& scene, StoryEvent& event) {
  event.fields = {number("psn", scene.psn().value()), number("ev", scene.ev().value)};
  event.sentence = psn_text(scene.psn()) + " on " + ev_text(scene.ev());
  const wire::TrafficClass traffic_class = scene.seen.parsed.envelope.traffic_class;
  if (wire::is_trimmed(traffic_class)) {
    scene.sent.note_trimmed(scene.time(), scene.psn(), scene.ev());
    event.kind = "trimmed";
    event.fields.push_back({"lasthop", traffic_class == wire::TrafficClass::trimmed_lasthop});
    event.sentence +=
        traffic_class == wire::TrafficClass::trimmed_lasthop ? " trimmed on the last hop" : " trimmed";
    return;
  }
  const Sending sending = scene.sent.note_write(scene.time(), scene.psn(), scene.ev(), w);
  event.sentence += ": " + text_of(wire::Opcode{scene.seen.parsed.opcode}) + " of " +
                    std::to_string(w.payload) + " bytes, MSN " + std::to_string(w.msn);
  event.fields.push_back(number("bytes", w.payload));
  event.fields.push_back(number("msn", w.msn));
  event.kind = "sent";
  if (sending.kind == Sending::Kind::seen_again) {
    event.kind = "seen_again";
    event.sentence += ", seen again";
  } else if (sending.kind == Sending::Kind::repair) {
    event.kind = "repaired";
    event.sentence += repair_text(sending);
    event.fields.push_back(word("cause", cause_name(sending.cause)));
    event.fields.push_back(
        number("since_evidence_ns", static_cast<std::uint64_t>(sending.since_evidence.count())));
  }
  if (scene.seen.parsed.envelope.ecn == wire::Ecn::ce) {
    event.sentence += ", congestion experienced";
    event.fields.push_back({"ce", true});
  }
}

void Story::on(const wire::Sack& s, const Scene& scene, StoryEvent& event) {
  const SentPackets::Acknowledged got = scene.sent.note_sack(scene.time(), s);
  const std::string ranges = sacked_ranges(s);
  event.kind = s.probe_reply ? "probe_reply" : "sack";
  event.fields = {number("cack_psn", s.cack_psn.value()), word("sacked", ranges), number("newly", got.newly),
                  number("ev", s.entropy.value)};
  event.sentence = "SACK: all to " + std::to_string(s.cack_psn.value());
  if (!ranges.empty()) event.sentence += " and " + ranges;
  event.sentence += ", " + std::to_string(got.newly) + " new";
  if (got.round_trip) {
    event.sentence += "; " + ev_text(s.entropy) + " took " + microseconds(*got.round_trip);
    event.fields.push_back(number("round_trip_ns", static_cast<std::uint64_t>(got.round_trip->count())));
  }
  if (s.probe_reply) {
    const auto id = static_cast<std::uint16_t>(s.ack_psn_offset);
    event.sentence += "; answers probe " + std::to_string(id);
    event.fields.push_back(number("probe_id", id));
    const auto asked = probes_.find({opposite(scene.way), id});
    if (asked != probes_.end()) event.sentence += " after " + microseconds(scene.time() - asked->second);
  }
  if (s.mark == wire::SackMark::none) return;
  const bool once = s.mark == wire::SackMark::skip_once;
  event.sentence += "; " + ev_text(s.entropy) + (once ? " is to skip a turn" : " is bad for good");
  event.fields.push_back(word("mark", text_of(s.mark)));
}

void Story::on(const wire::Nack& n, const Scene& scene, StoryEvent& event) {
  scene.sent.note_nack(scene.time(), n);
  event.kind = "nack";
  event.sentence =
      std::string("NACK ") + text_of(n.reason) + ": " + psn_text(n.nack_psn) + " on " + ev_text(n.entropy);
  event.fields = {word("reason", text_of(n.reason)), number("psn", n.nack_psn.value()),
                  number("ev", n.entropy.value)};
}

void Story::on(const wire::TransportAck& a, const Scene&, StoryEvent& event) {
  event.kind = "ack";
  event.sentence = std::string("Transport ") + text_of(a.syndrome) + ", MSN " + std::to_string(a.msn);
  event.fields = {word("syndrome", text_of(a.syndrome)), number("msn", a.msn)};
}

void Story::on(const wire::Probe& p, const Scene& scene, StoryEvent& event) {
  probes_[{scene.way, p.probe_id}] = scene.time();
  event.kind = "probe";
  event.sentence = "probe " + std::to_string(p.probe_id) + " on " + ev_text(scene.ev());
  event.fields = {number("probe_id", p.probe_id), number("ev", scene.ev().value)};
}

}  // namespace mrc::tools
