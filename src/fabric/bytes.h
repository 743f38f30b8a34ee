// The edge between bytes and decisions: an Ethernet frame read into a Frame, and what was decided written
// back.
//
// read_frame() looks at the outermost IPv6 header only, as a switch does. write_frame() changes what the
// decisions changed and nothing else: destination address, hop limit, ECN and class, and the length of a
// trimmed frame.
#pragma once

#include "base/ipv6.h"
#include "fabric/fate.h"
#include "fabric/frame.h"
#include "fabric/switch.h"
#include "wire/bytes.h"
#include "wire/mark.h"
#include "wire/settings.h"

namespace mrc::fabric {

struct ByteSettings {
  Ipv6Prefix locator = *parse_ipv6_prefix("fcbb:bb00::/32");
  Ipv6Prefix host_prefix = *parse_ipv6_prefix("fd4d:5243::/32");  // prefix:plane:t0::downlink+1
  wire::Settings wire;
  /// Marks and classes are written into the inner IPv6 header too: a kernel that decapsulates (End.DT6) shows
  /// the receiver nothing else. The iCRC masks both fields.
  bool inner_too = true;
  wire::TrimLengths trim_lengths = wire::TrimLengths::fix;
};

/// How a frame is addressed: by a uSID carrier, or plainly by a NIC's address.
enum class Addressing : std::uint8_t { usid, plain };

struct ReadFrame {
  Fate fate = Fate::passed;  // is_gone(fate): not ours to forward
  Addressing addressing = Addressing::usid;
};
/// Fills `f` but for its queue link. `f.bytes` is the frame's length from the Ethernet header on, padding not
/// counted. `whole` is the frame's size where `frame` holds only its beginning; the headers must lie in that.
ReadFrame read_frame(wire::Bytes frame, const ByteSettings& settings, Frame& f, std::size_t whole = 0);

/// Writes the decisions into the bytes that read_frame() saw, or into their first `f.bytes` and more; returns
/// the length that the frame now has.
std::size_t write_frame(const Frame& f, wire::MutableBytes frame, const ByteSettings& settings);

/// Reads a frame and routes it, by uSID through `sw`, plain ones through `plain` (of which only the table
/// matters); a spent carrier goes on with the packet's next segment. The frame is ready for admit() and, once
/// it leaves, write_frame().
struct Routed {
  Switch::Route route;
  Addressing addressing = Addressing::usid;
};
Routed route_bytes(const Switch& sw, const Switch& plain, wire::MutableBytes frame,
                   const ByteSettings& settings, Frame& f, std::size_t whole = 0);

/// A spent carrier whose packet lists another segment: makes that one the destination, as End does. The frame
/// is then read anew. False: there is no segment routing header, or none left in it.
bool next_segment(wire::MutableBytes frame);

}  // namespace mrc::fabric
