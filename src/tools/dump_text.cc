#include "tools/dump_text.h"

#include "base/json.h"
#include "tools/text.h"
#include "wire/print.h"

namespace mrc::tools {
namespace {

using wire::Reached;

bool is_well(Verdict v) { return v == Verdict::ok || v == Verdict::trimmed_ok; }
bool is_cut(const SeenPacket& seen) { return seen.frame.bytes.size() < seen.frame.original_length; }

/// As far as the packet can be understood.
std::string packet_text(const SeenPacket& seen) {
  const wire::Parsed& parsed = seen.parsed;
  if (parsed.reached >= Reached::bth) return " " + wire::one_line(parsed);
  if (parsed.reached < Reached::ip) return {};
  return " " + to_string(parsed.datagram.source) + " > " + to_string(parsed.datagram.destination);
}

std::string remarks(const SeenPacket& seen) {
  std::string text;
  if (seen.parsed.encapsulation >= wire::Encapsulation::srv6) {
    text += " via " + to_string(seen.parsed.outer_destination);
  }
  if (seen.of_parts > 1)
    text += " [" + std::to_string(seen.part + 1) + " of " + std::to_string(seen.of_parts) + " in one frame]";
  if (is_cut(seen)) text += " [cut by the capture]";
  if (!is_well(seen.verdict)) {
    text += " !" + std::string(name(seen.verdict)) + ": " + std::string(explain(seen.verdict));
  }
  return text;
}

}  // namespace

std::string dump_line(const SeenPacket& seen, Time start) {
  return std::to_string(seen.frame.number) + " " + seconds(seen.frame.time - start) + packet_text(seen) +
         remarks(seen);
}

std::string dump_full(const SeenPacket& seen, Time start) {
  std::string text = dump_line(seen, start) + "\n";
  const std::string fields = wire::in_full(seen.parsed, seen.verdict);
  for (std::size_t at = 0; at < fields.size();) {
    const std::size_t end = fields.find('\n', at);
    text += "  " + fields.substr(at, end - at) + "\n";
    at = end == std::string::npos ? fields.size() : end + 1;
  }
  return text;
}

std::string dump_json(const SeenPacket& seen, Time start) {
  JsonWriter json;
  json.begin_object().field("frame", seen.frame.number).field("time", seconds(seen.frame.time - start));
  json.field("epoch", seconds(seen.frame.time.time_since_epoch()));
  json.field("captured", seen.frame.bytes.size()).field("length", seen.frame.original_length);
  if (seen.of_parts > 1) json.field("part", seen.part + 1).field("of_parts", seen.of_parts);
  if (seen.unfinished_checksum) json.field("unfinished_checksum", true);
  if (seen.parsed.encapsulation >= wire::Encapsulation::srv6) {
    json.field("outer_source", to_string(seen.parsed.outer_source));
    json.field("outer_destination", to_string(seen.parsed.outer_destination));
  }
  // Two objects become one: the frame's facts, then the packet's.
  return json.text() + "," + wire::to_json(seen.parsed, seen.verdict).substr(1);
}

}  // namespace mrc::tools
