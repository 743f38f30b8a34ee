// SRH, the IPv6 segment routing header (RFC 8754). MRC needs it only when a path takes more than one uSID
// carrier: the first is the destination address, the second the one segment listed here (reduced
// encapsulation).
#pragma once

#include "wire/address.h"
#include "wire/bytes.h"
#include "wire/ipv6.h"

namespace mrc::wire {

/// An SRH of one segment, as we send it.
struct Srh {
  static constexpr std::size_t kSize = 24;
  IpAddress segment;
  std::uint8_t next_header = kNextIpv6;
  std::uint8_t segments_left = 1;  // the carrier in the destination address comes before the one listed
  bool operator==(const Srh&) const = default;
};

/// Any SRH: the fixed part is checked on construction, the rest by ok().
class SrhView : public View<8> {
 public:
  static constexpr std::uint8_t kRoutingType = 4;
  explicit SrhView(Bytes b) : View(b), available_(b.size()) {}
  std::uint8_t next_header() const { return u8(0); }
  std::size_t size() const { return 8 + std::size_t{u8(1)} * 8; }
  std::uint8_t routing_type() const { return u8(2); }
  std::uint8_t segments_left() const { return u8(3); }
  std::uint8_t last_entry() const { return u8(4); }
  /// MRC-WIRE-061: it lies within the bytes, holds the segments that it announces, and counts no more than
  /// one beyond them: reduced encapsulation leaves the first segment out.
  bool ok() const {
    return routing_type() == kRoutingType && size() <= available_ &&
           (std::size_t{last_entry()} + 1) * 16 <= size() - 8 && segments_left() <= last_entry() + 1;
  }
  /// REQUIRES: ok() and i <= last_entry().
  IpAddress segment(std::size_t i) const { return IpAddress::v6_from(data() + 8 + i * 16); }
  Srh value() const { return {segment(0), next_header(), segments_left()}; }

 private:
  std::size_t available_;
};

inline void emit(const Srh& h, std::uint8_t* out) {
  out[0] = h.next_header;
  out[1] = 2;  // 8-byte units beyond the first
  out[2] = SrhView::kRoutingType;
  out[3] = h.segments_left;
  store32(out + 4, 0);  // last entry 0, no flags, no tag
  std::memcpy(out + 8, h.segment.bytes.data(), 16);
}

}  // namespace mrc::wire
