// The codec: bytes to packet values and back, at three levels.
//
//   datagram  the UDP payload, BTH to iCRC; IP facts come and go beside it (sockets)
//   l3        from the IP header on: IPv4, IPv6, or IPv6 in IPv6 with a uSID destination, with or without SRH
//   l2        from the Ethernet header on
//
// MRC-WIRE-060: nothing here allocates, and nothing reads or writes outside the spans given. Whatever the
// bytes are, the answer is a Verdict; only `ok` and `trimmed_ok` mean that the packet may be acted on.
#pragma once

#include <array>
#include <optional>

#include "wire/bytes.h"
#include "wire/datagram.h"
#include "wire/packet.h"
#include "wire/settings.h"
#include "wire/verdict.h"

namespace mrc::wire {

enum class Encapsulation : std::uint8_t { datagram, ipv4, ipv6, srv6, srv6_srh };

/// How far decoding came. A trimmed packet may end after any of these; what lies beyond is zero in its value.
enum class Reached : std::uint8_t { nothing, ip, udp, bth, meth, tseth, reth, everything };

struct Parsed {
  Packet packet;
  Envelope envelope;
  Datagram datagram;
  Bytes payload;           // into the input; empty for a trimmed packet and for all but writes
  IpAddress outer_source;  // srv6 and srv6_srh only
  IpAddress outer_destination;
  Encapsulation encapsulation = Encapsulation::datagram;
  Reached reached = Reached::nothing;
  std::uint8_t opcode = 0;  // BTH byte 0, from Reached::bth on: the packet has no body when that was refused
  bool cut = false;  // fewer bytes than the headers announce
};

/// A packet that ends early is refused unless its class says that it was trimmed. A capture may have cut any
/// packet: `allow` decodes it as far as it reaches (verdict ok, `cut` set), with no checksum looked at.
enum class CutPackets : std::uint8_t { refuse, allow };

Verdict parse_datagram(Bytes udp_payload, const Datagram& around, const Settings& settings, Parsed& out);
Verdict parse_l3(Bytes bytes, const Settings& settings, Parsed& out, CutPackets cut = CutPackets::refuse);
Verdict parse_l2(Bytes frame, const Settings& settings, Parsed& out, CutPackets cut = CutPackets::refuse);

/// Where a packet goes and how it is wrapped.
struct Route {
  IpAddress source, destination;  // NIC addresses, both of one IP version
  /// SRv6: the outer header's destination is the uSID carrier. Needs IPv6 inside.
  std::optional<IpAddress> usid_carrier = std::nullopt;
  std::optional<IpAddress> next_carrier = std::nullopt;  // a second carrier, in an SRH
  std::optional<IpAddress> outer_source = std::nullopt;  // default: `source`
};

/// What follows the payload: padding and iCRC.
struct Tail {
  std::array<std::uint8_t, 8> bytes{};
  std::uint8_t size = 0;
  operator Bytes() const { return Bytes(bytes).first(size); }
};

/// Upper bound of what emit_*_head writes: Ethernet, outer IPv6, SRH, IPv6, UDP and the longest MRC headers.
inline constexpr std::size_t kMaxHead = 14 + 40 + 24 + 40 + 8 + 48;

/// Headers into `head`, padding and iCRC into `tail`; the payload stays where it is (sendmsg gathers the
/// three). Returns the size of the head, or 0 when it does not fit in `head` or in an IP packet, or the route
/// mixes IP versions. `payload` must be empty for all but writes; its size is what goes out, whatever
/// packet.body says.
std::size_t emit_datagram_head(const Packet& packet, const Datagram& around, Bytes payload,
                               const Settings& settings, MutableBytes head, Tail& tail);
std::size_t emit_l3_head(const Packet& packet, const Envelope& envelope, const Route& route, Bytes payload,
                         const Settings& settings, MutableBytes head, Tail& tail);

/// The same in one piece. Returns its size, or 0 when it does not fit.
std::size_t emit_datagram(const Packet& packet, const Datagram& around, Bytes payload,
                          const Settings& settings, MutableBytes out);
std::size_t emit_l3(const Packet& packet, const Envelope& envelope, const Route& route, Bytes payload,
                    const Settings& settings, MutableBytes out);
std::size_t emit_l2(const Packet& packet, const Envelope& envelope, const Route& route,
                    const MacAddress& source, const MacAddress& destination, Bytes payload,
                    const Settings& settings, MutableBytes out);

/// Bytes of BTH and what follows it up to the payload.
std::size_t header_size(const Packet& packet);

}  // namespace mrc::wire
