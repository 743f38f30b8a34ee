// The invariant CRC that ends every packet: CRC-32 with the Ethernet polynomial over everything that no
// switch changes, from the IP header that carries UDP on. What may change on the way counts as ones.
#pragma once

#include "wire/bytes.h"
#include "wire/datagram.h"

namespace mrc::wire {

inline constexpr std::size_t kIcrcSize = 4;

/// MRC-WIRE-045: only the datagram counts, so an outer header may change at every hop.
/// A running iCRC: begin with the headers around and the first bytes of BTH, go on with the rest.
class Icrc {
 public:
  static constexpr std::size_t kBthInHead = 8;  // of BTH, with its masked byte; add() continues behind them
  /// `bth` is the packet's BTH as on the wire; `udp_payload` counts from BTH to the iCRC inclusive.
  Icrc(const Datagram& datagram, const std::uint8_t* bth, std::size_t udp_payload);
  void add(Bytes piece);
  /// The four bytes, in the order in which they are sent.
  void store(std::uint8_t* out) const;
  bool matches(const std::uint8_t* stored) const;

 private:
  std::uint32_t crc_;
};

/// The whole calculation over one packet's UDP payload, BTH to iCRC; the last four bytes are not read.
/// REQUIRES: at least sizeof BTH + 4 bytes.
Icrc icrc_of(const Datagram& datagram, Bytes udp_payload);

}  // namespace mrc::wire
