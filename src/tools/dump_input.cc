#include "tools/dump_input.h"

#include "tools/offload.h"

namespace mrc::tools {
namespace {

bool is_checksum(Verdict v) { return v == Verdict::bad_icrc || v == Verdict::bad_udp_checksum; }

SeenPacket see(const CapturedFrame& frame, LinkType link, wire::Settings settings) {
  SeenPacket seen{frame, {}, Verdict::bad_ip_version};
  const std::optional<Bytes> ip = ip_packet(link, frame.bytes);
  if (!ip) return seen;
  const bool cut_by_capture = frame.bytes.size() < frame.original_length;
  const auto cut = cut_by_capture ? wire::CutPackets::allow : wire::CutPackets::refuse;
  seen.verdict = wire::parse_l3(*ip, settings, seen.parsed, cut);
  if (seen.verdict == Verdict::bad_udp_checksum && checksum_is_unfinished(*ip, seen.parsed)) {
    seen.unfinished_checksum = true;
    settings.check_udp_checksum = false;
    seen.verdict = wire::parse_l3(*ip, settings, seen.parsed, cut);
  }
  if (is_checksum(seen.verdict)) {
    settings.check_icrc = settings.check_udp_checksum = false;
    wire::parse_l3(*ip, settings, seen.parsed,
                   cut);  // the first verdict stands: it is why nobody would believe the rest
  }
  return seen;
}

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

void see_packets(const CapturedFrame& frame, LinkType link, const wire::Settings& settings,
                 const std::function<void(const SeenPacket&)>& take) {
  SeenPacket seen = see(frame, link, settings);
  const bool whole = seen.verdict == Verdict::ok && settings.check_icrc;
  const std::optional<Bytes> ip = ip_packet(link, frame.bytes);
  const auto train = seen.unfinished_checksum && !whole ? find_train(*ip, seen.parsed) : std::nullopt;
  if (!train) return take(seen);
  for (std::uint32_t i = 0; i < train->count; ++i) {
    const auto bytes = cut_packet(frame.bytes, frame.bytes.size() - ip->size(), *train, i);
    CapturedFrame piece = frame;
    piece.bytes = bytes;
    piece.original_length = static_cast<std::uint32_t>(bytes.size());
    seen = see(piece, link, settings);
    seen.part = i;
    seen.of_parts = train->count;
    take(seen);
  }
}

}  // namespace mrc::tools
