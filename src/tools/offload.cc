#include "tools/offload.h"

#include "wire/bth.h"
#include "wire/checksum.h"
#include "wire/icrc.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

namespace mrc::tools {
namespace {

using wire::BthView;

std::optional<std::size_t> udp_offset(Bytes ip, const wire::Parsed& parsed) {
  if (parsed.reached < wire::Reached::udp) return std::nullopt;
  if (parsed.encapsulation == wire::Encapsulation::ipv4) return wire::Ipv4::kSize;
  const auto found = lab::find_ip_segments(ip, ip.size(), 1);
  if (!found) return std::nullopt;
  return found->udp;
}

/// A BTH may stand here: all opcodes of MRC begin with the same three bits, and a train has one P_Key.
bool may_follow(const BthView& first, const BthView& next) {
  return next.opcode() >> 5 == first.opcode() >> 5 && next.tver() == 0 && next.pkey() == first.pkey();
}
/// Proof where a sender leaves the iCRC out.
bool is_next(const BthView& first, const BthView& next) {
  return next.dqpn() == first.dqpn() && next.psn() == first.psn() + 1;
}

/// Nothing says how long the packets of a train are: the first one ends where its iCRC is right.
std::optional<std::uint32_t> first_packet_bytes(Bytes payload, const wire::Datagram& around) {
  const BthView first(payload);
  for (std::size_t n = wire::Bth::kSize + wire::kIcrcSize; n + wire::Bth::kSize <= payload.size(); ++n) {
    const BthView next(payload.subspan(n));
    if (!may_follow(first, next)) continue;
    const auto* icrc = payload.data() + n - wire::kIcrcSize;
    if (wire::icrc_of(around, payload.first(n)).matches(icrc) || is_next(first, next))
      return static_cast<std::uint32_t>(n);
  }
  return std::nullopt;
}

}  // namespace

bool checksum_is_unfinished(Bytes ip, const wire::Parsed& parsed) {
  const auto at = udp_offset(ip, parsed);
  if (!at || *at > ip.size()) return false;
  const wire::UdpView udp(ip.subspan(*at));
  if (!udp) return false;
  wire::Checksum sum;
  sum.add_udp_pseudo(parsed.datagram.source, parsed.datagram.destination, udp.length());
  return udp.checksum() == sum.sum();
}

std::optional<lab::Segments> find_train(Bytes ip, const wire::Parsed& parsed) {
  const auto whole = lab::find_ip_segments(ip, ip.size(), 1);
  if (!whole || parsed.reached < wire::Reached::udp) return std::nullopt;
  const std::size_t end = whole->udp + std::size_t{wire::UdpView(ip.subspan(whole->udp)).length()};
  if (end > ip.size() || end < whole->payload) return std::nullopt;
  const Bytes payload = ip.first(end).subspan(whole->payload);
  const auto each = first_packet_bytes(payload, parsed.datagram);
  return each ? lab::find_ip_segments(ip, end, *each) : std::nullopt;
}

std::vector<std::uint8_t> cut_packet(Bytes frame, std::size_t link_bytes, const lab::Segments& train,
                                     std::uint32_t i) {
  const Bytes ip = frame.subspan(link_bytes), payload = ip.subspan(train.offset(i), train.size(i));
  std::vector<std::uint8_t> out(frame.begin(),
                                frame.begin() + static_cast<std::ptrdiff_t>(link_bytes + train.payload));
  out.insert(out.end(), payload.begin(), payload.end());
  lab::write_segment_head(wire::MutableBytes(out).subspan(link_bytes), train, train.size(i));
  return out;
}

}  // namespace mrc::tools
