// Packets as bytes: what `wire` runs put between NIC and NIC instead of values.
//
// Whatever leaves a NIC is encoded in full (IPv6 in IPv6, UDP, MRC, payload of zeros, iCRC); what switches
// decided is written into those bytes as `mrc switch` does it; what the receiver gets is what the codec
// reads from them. Results are the same as with values, or one of the two is wrong. Slow: for small runs.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fabric/bytes.h"
#include "sim/cargo.h"
#include "sim/carriage.h"
#include "topo/topo.h"
#include "wire/codec.h"

namespace mrc::sim {

class WirePath {
 public:
  WirePath(const topo::Topology& topo, const Encapsulation& encapsulation);

  /// A packet leaves: `cargo` holds it, filled but for its bytes. REQUIRES: the frame's size is the value's.
  void put(const Cargo& cargo, const wire::Envelope& envelope, std::uint32_t destination,
           const topo::Choice& choice);
  struct Arrived {
    wire::Packet packet;
    wire::Envelope envelope;
  };
  /// It arrives, marked or trimmed as `cargo` says; nothing when the codec refuses it.
  std::optional<Arrived> take(const Cargo& cargo);

 private:
  const topo::Topology& topo_;
  bool srv6_;
  std::uint32_t beyond_;  // bytes that a frame counts with and that are not in its bytes: FCS, preamble, gap
  fabric::ByteSettings settings_;
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::vector<std::uint8_t>> frames_;  // by slot
};

}  // namespace mrc::sim
