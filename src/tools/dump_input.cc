#include "tools/dump_input.h"

namespace mrc::tools {
namespace {

bool is_checksum(Verdict v) { return v == Verdict::bad_icrc || v == Verdict::bad_udp_checksum; }

}  // namespace

bool is_foreign(const SeenPacket& seen) {
  switch (seen.verdict) {
    case Verdict::bad_ip_version:
    case Verdict::bad_ip_header:
    case Verdict::ip_fragment:
    case Verdict::not_udp:
    case Verdict::not_mrc_port:
    case Verdict::bad_srh: return true;
    default: return seen.parsed.reached < wire::Reached::udp;
  }
}

bool names_packet(const SeenPacket& seen) { return seen.parsed.reached >= wire::Reached::bth; }

SeenPacket see(const CapturedFrame& frame, LinkType link, const wire::Settings& settings) {
  SeenPacket seen{frame, {}, Verdict::bad_ip_version};
  const std::optional<Bytes> ip = ip_packet(link, frame.bytes);
  if (!ip) return seen;
  const bool cut_by_capture = frame.bytes.size() < frame.original_length;
  const auto cut = cut_by_capture ? wire::CutPackets::allow : wire::CutPackets::refuse;
  seen.verdict = wire::parse_l3(*ip, settings, seen.parsed, cut);
  if (is_checksum(seen.verdict)) {
    wire::Settings lenient = settings;
    lenient.check_icrc = lenient.check_udp_checksum = false;
    wire::parse_l3(*ip, lenient, seen.parsed,
                   cut);  // the first verdict stands: it is why nobody would believe the rest
  }
  return seen;
}

}  // namespace mrc::tools
