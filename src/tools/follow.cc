#include "tools/follow.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/counted.h"
#include "base/json.h"
#include "tools/story.h"
#include "tools/text.h"

namespace mrc::tools {
namespace {

using Way = Conversation::Way;

struct Whom {
  Qpn qp;
  std::optional<wire::IpAddress> address;
};

Result<Whom> parse_whom(const std::string& text) {
  const std::size_t at = text.find('@');
  std::string number = text.substr(0, at);
  const bool is_hex = number.rfind("0x", 0) == 0 || number.rfind("0X", 0) == 0;
  if (is_hex) number.erase(0, 2);
  Whom whom;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, whom.qp.value, is_hex ? 16 : 10);
  if (error != std::errc() || stop != end || whom.qp.value > Psn::kMask) {
    return Error{EINVAL, "'" + text + "' is not QPN or QPN@ADDRESS, such as 0x11@fd00::1"};
  }
  if (at == std::string::npos) return whom;
  whom.address = wire::parse_ip(text.substr(at + 1));
  if (!whom.address) return Error{EINVAL, "'" + text.substr(at + 1) + "' is no IP address"};
  return whom;
}

void put_json_fields(JsonWriter& json, const std::vector<StoryField>& fields) {
  for (const StoryField& field : fields) {
    json.key(field.name);
    std::visit([&](const auto& v) { json.value(v); }, field.value);
  }
}

/// Prints events and the closing account, as text or as JSON lines.
class Teller {
 public:
  Teller(const Conversation& conversation, bool json) : conversation_(conversation), json_(json) {}

  void begin() const;
  void tell(const StoryEvent& event);
  void account(Way way, const SentPackets& sent) const;

 private:
  std::string name_of(Way way) const {
    if (way == Way::to_qp) return hex(conversation_.qp.value);
    if (!conversation_.peer) return "peer";
    return (conversation_.peer == conversation_.qp ? "peer " : "") + hex(conversation_.peer->value);
  }
  void account_text(Way way, const SentPackets& sent) const;
  void account_json(Way way, const SentPackets& sent) const;

  const Conversation& conversation_;
  bool json_;
  Time start_ = kNever;
};

void Teller::begin() const {
  if (!conversation_.peer) {
    std::fprintf(stderr,
                 "no feedback to or from %s is in the capture, so its peer is unknown: one direction only\n",
                 hex(conversation_.qp.value).c_str());
  }
  for (const wire::IpAddress& a : conversation_.elsewhere) {
    std::fprintf(stderr, "%s also exists at %s; --follow %s@%s tells that story\n",
                 hex(conversation_.qp.value).c_str(), to_string(a).c_str(),
                 hex(conversation_.qp.value).c_str(), to_string(a).c_str());
  }
}

void Teller::tell(const StoryEvent& event) {
  if (start_ == kNever) start_ = event.time;
  const std::string time = seconds(event.time - start_);
  if (!json_) {
    std::printf("%llu %s to %s: %s\n", static_cast<unsigned long long>(event.frame), time.c_str(),
                name_of(event.way).c_str(), event.sentence.c_str());
    return;
  }
  JsonWriter json;
  json.begin_object().field("frame", event.frame).field("time", time).field("to", name_of(event.way));
  json.field("event", event.kind);
  put_json_fields(json, event.fields);
  json.field("text", event.sentence).end_object();
  std::puts(json.text().c_str());
}

std::uint64_t repairs(const SentPackets::Totals& totals) {
  std::uint64_t sum = 0;
  for (const std::uint64_t n : totals.repaired) sum += n;
  return sum;
}

std::uint64_t repairs(const SentPackets::Totals& totals, RepairCause cause) {
  return totals.repaired[static_cast<int>(cause)];
}

void Teller::account(Way way, const SentPackets& sent) const {
  if (sent.totals().sent == 0 && sent.totals().trimmed == 0) return;
  json_ ? account_json(way, sent) : account_text(way, sent);
}

void Teller::account_text(Way way, const SentPackets& sent) const {
  const SentPackets::Totals& t = sent.totals();
  const auto n = [](std::uint64_t v) { return static_cast<unsigned long long>(v); };
  std::printf("\nwrites to %s: %s on %s, %llu acknowledged, %zu open, %llu trimmed\n", name_of(way).c_str(),
              counted(t.sent, "packet").c_str(), counted(sent.evs().size(), "EV").c_str(), n(t.acknowledged),
              sent.open().size(), n(t.trimmed));
  std::printf(
      "repairs: %llu (after a NACK %llu, trimmed %llu, inferred %llu, needless %llu, first sending unseen "
      "%llu)",
      n(repairs(t)), n(repairs(t, RepairCause::nack)), n(repairs(t, RepairCause::trimmed)),
      n(repairs(t, RepairCause::inferred)), n(repairs(t, RepairCause::already_acknowledged)),
      n(repairs(t, RepairCause::first_unseen)));
  std::printf("; slowest %.1f us after the evidence\n", static_cast<double>(t.slowest_repair.count()) / 1000);
  std::printf("%-10s %8s %8s %8s %8s %8s %8s\n", "EV", "sent", "acked", "trimmed", "nacked", "lost", "skips");
  for (const auto& [ev, tally] : sent.evs()) {
    std::printf("%-10s %8llu %8llu %8llu %8llu %8llu %8llu\n", hex(ev.value, 8).c_str(), n(tally.sent),
                n(tally.acknowledged), n(tally.trimmed), n(tally.nacked), n(tally.lost), n(tally.skipped));
  }
}

void Teller::account_json(Way way, const SentPackets& sent) const {
  const SentPackets::Totals& t = sent.totals();
  JsonWriter json;
  json.begin_object().field("event", "account").field("to", name_of(way)).field("sent", t.sent);
  json.field("acknowledged", t.acknowledged).field("trimmed", t.trimmed);
  json.begin_object("repairs").field("nack", repairs(t, RepairCause::nack));
  json.field("trimmed", repairs(t, RepairCause::trimmed))
      .field("inferred", repairs(t, RepairCause::inferred));
  json.field("already_acknowledged", repairs(t, RepairCause::already_acknowledged));
  json.field("first_unseen", repairs(t, RepairCause::first_unseen)).end_object();
  json.field("slowest_repair_ns", t.slowest_repair.count()).begin_array("open");
  for (const Psn psn : sent.open()) json.value(psn.value());
  json.end_array().begin_array("evs");
  for (const auto& [ev, tally] : sent.evs()) {
    json.begin_object()
        .field("ev", ev.value)
        .field("sent", tally.sent)
        .field("acknowledged", tally.acknowledged);
    json.field("trimmed", tally.trimmed).field("nacked", tally.nacked).field("lost", tally.lost);
    json.field("skips", tally.skipped).end_object();
  }
  std::puts(json.end_array().end_object().text().c_str());
}

int complain(const std::string& what) {
  std::fprintf(stderr, "mrc dump: %s\n", what.c_str());
  return 1;
}

}  // namespace

int follow(const std::string& file, const std::string& whom_text, bool json, const wire::Settings& settings) {
  if (file == "-") return complain("--follow reads the capture twice; give it a file");
  const auto whom = parse_whom(whom_text);
  if (!whom) return complain(whom.error().what);
  const auto conversation = find_conversation(file, settings, whom->qp, whom->address);
  if (!conversation) return complain(conversation.error().what);
  auto reader = CaptureReader::open(file);
  if (!reader) return complain(reader.error().what);

  Teller teller(*conversation, json);
  teller.begin();
  Story story(*conversation, [&](const StoryEvent& event) { teller.tell(event); });
  CapturedFrame frame{};
  CaptureReader::Next next;
  while ((next = reader->read(frame)) == CaptureReader::Next::frame) {
    see_packets(frame, reader->link(), settings, [&](const SeenPacket& seen) { story.note(seen); });
  }
  teller.account(Way::to_qp, story.to_qp());
  teller.account(Way::to_peer, story.to_peer());
  if (next == CaptureReader::Next::end) return 0;
  return complain("the capture ends in a damaged record: " + reader->error());
}

}  // namespace mrc::tools
