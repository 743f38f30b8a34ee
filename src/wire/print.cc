#include "wire/print.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>

#include "base/json.h"
#include "wire/fields.h"

namespace mrc::wire {
namespace {

[[gnu::format(printf, 2, 3)]] void append(std::string& out, const char* format, ...) {
  char text[160];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  out += text;
}

struct AppendBody {
  std::string& out;

  void operator()(const Write& w) const {
    append(out, " %u B msn %u", w.payload, w.msn);
    if (w.has_imm) append(out, " imm 0x%08x rqmsn %u", w.imm, w.rqmsn);
    if (w.retransmitted) out += " rtx";
    if (w.ack_request) out += " ack-request";
  }
  void operator()(const Sack& s) const {
    append(out, " bitmap 0x%" PRIx64 "%+d ev 0x%x", s.bitmap, s.sack_offset, s.entropy.value);
    if (s.probe_reply) append(out, " answers probe %u", static_cast<std::uint16_t>(s.ack_psn_offset));
    if (s.mark != SackMark::none) (out += ' ') += name(s.mark);
  }
  void operator()(const Nack& n) const {
    (out += ' ') += name(n.reason);
    append(out, " ev 0x%x", n.entropy.value);
  }
  void operator()(const TransportAck& a) const {
    (out += ' ') += name(a.syndrome);
    append(out, " msn %u", a.msn);
  }
  void operator()(const Probe& p) const { append(out, " id %u", p.probe_id); }
  void operator()(const EndpointRequest& r) const {
    (out += ' ') += name(r.op);
    append(out, " ports 0x%x", r.port_status.bits());
  }
  void operator()(const EndpointResponse& r) const { (out += ' ') += name(r.op); }
};

/// "header.field = value", one per line.
struct TextFields {
  std::string out{};
  const char* at = "";

  void header(const char* n) { at = n; }
  void number(const char* n, const auto& f) { append(out, "%s.%s = %" PRIu64 "\n", at, n, raw_of(f)); }
  void hex(const char* n, const auto& f, int digits) {
    append(out, "%s.%s = 0x%0*" PRIx64 "\n", at, n, digits, raw_of(f));
  }
  void offset(const char* n, const auto& f) { append(out, "%s.%s = %d\n", at, n, int{f}); }
  void flag(const char* n, bool f) { append(out, "%s.%s = %d\n", at, n, int{f}); }
};

/// One object per header.
struct JsonFields {
  JsonWriter& json;
  bool open = false;

  void close() {
    if (open) json.end_object();
    open = false;
  }
  void header(const char* n) {
    close();
    json.begin_object(n);
    open = true;
  }
  void number(const char* n, const auto& f) { json.field(n, raw_of(f)); }
  void hex(const char* n, const auto& f, int digits) {
    if (digits <= 8) return number(n, f);
    char text[20];
    std::snprintf(text, sizeof text, "0x%016" PRIx64, raw_of(f));
    json.field(n, std::string_view(text));
  }
  void offset(const char* n, const auto& f) { json.field(n, f); }
  void flag(const char* n, bool f) { json.field(n, f); }
};

bool has_body(const Parsed& parsed) {
  const bool known = empty_packet(parsed.opcode).has_value();
  return parsed.reached > Reached::bth || (known && parsed.opcode <= raw_of(Opcode::write_only_imm));
}

}  // namespace

std::string one_line(const Packet& packet) {
  std::string out(name(packet.opcode()));
  append(out, " qp 0x%06x psn %u", packet.dqpn.value, packet.psn.value());
  std::visit(AppendBody{out}, packet.body);
  return out;
}

std::string one_line(const Parsed& parsed) {
  std::string out = to_string(parsed.datagram.source) + " > " + to_string(parsed.datagram.destination);
  append(out, " ev 0x%08x ", parsed.envelope.ev.value);
  (out += name(parsed.envelope.traffic_class)) += ' ';
  if (parsed.envelope.ecn == Ecn::ce) out += "CE ";
  if (has_body(parsed)) return out + one_line(parsed.packet);
  append(out, "opcode 0x%02x qp 0x%06x psn %u", parsed.opcode, parsed.packet.dqpn.value,
         parsed.packet.psn.value());
  return out;
}

std::string in_full(const Parsed& parsed, Verdict verdict) {
  TextFields text;
  text.out = "verdict = " + std::string(mrc::name(verdict)) + "\n";
  (((text.out += "encapsulation = ") += name(parsed.encapsulation)) += '\n');
  text.out += "source = " + to_string(parsed.datagram.source) + "\n";
  text.out += "destination = " + to_string(parsed.datagram.destination) + "\n";
  append(text.out, "ev = 0x%08x\n", parsed.envelope.ev.value);
  (((text.out += "class = ") += name(parsed.envelope.traffic_class)) += '\n');
  (((text.out += "ecn = ") += name(parsed.envelope.ecn)) += '\n');
  if (parsed.reached < Reached::bth) return text.out;
  append(text.out, "bth.opcode = 0x%02x\n", parsed.opcode);
  if (has_body(parsed)) visit_fields(parsed.packet, text, parsed.reached);
  append(text.out, "payload = %zu\n", parsed.payload.size());
  return text.out;
}

std::string to_json(const Parsed& parsed, Verdict verdict) {
  JsonWriter json;
  json.begin_object().field("verdict", mrc::name(verdict)).field("encapsulation", name(parsed.encapsulation));
  json.field("source", std::string_view(to_string(parsed.datagram.source)));
  json.field("destination", std::string_view(to_string(parsed.datagram.destination)));
  json.field("ev", parsed.envelope.ev.value).field("class", name(parsed.envelope.traffic_class));
  json.field("ecn", name(parsed.envelope.ecn));
  if (parsed.reached >= Reached::bth) {
    json.field("opcode", name(Opcode{parsed.opcode}));
    JsonFields fields{json};
    if (has_body(parsed)) visit_fields(parsed.packet, fields, parsed.reached);
    fields.close();
    json.field("payload", parsed.payload.size());
  }
  json.end_object();
  return json.text();
}

}  // namespace mrc::wire
