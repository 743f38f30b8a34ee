// The part of a frame on which a fabric decides, as a value.
//
// Switch logic reads and changes only this. The simulator derives its frame from it and carries the packet as
// a value; `mrc switch` fills it from bytes and writes the changes back (fabric/bytes.h). So one logic serves
// both.
#pragma once

#include <array>
#include <cstdint>

#include "wire/packet.h"

namespace mrc::fabric {

inline constexpr int kUsidsPerCarrier = 6;

struct Frame {
  Frame* next = nullptr;    // the one behind it in its queue; the queue's
  std::uint32_t bytes = 0;  // counted as rates and queue limits are counted
  wire::TrafficClass traffic_class = wire::TrafficClass::trimmable;
  wire::Ecn ecn = wire::Ecn::ect0;
  std::uint8_t hop_limit = 64;
  std::uint8_t usid_at = 0;  // the uSID that the next switch looks at; the ones before are consumed

  std::array<std::uint16_t, kUsidsPerCarrier> usids{};  // 0 ends the list
  std::uint16_t ingress = 0;      // port that it came in by, where the switch keeps back-pressure
  std::uint16_t reserved = 0;     // the owner's
  std::uint32_t destination = 0;  // T0 << 16 | downlink: where forwarding by destination leads
  std::uint32_t entropy = 0;      // the EV
  std::uint32_t flow = 0;         // what else an ECMP hash sees: addresses

  /// The active uSID; 0 when the carrier is spent.
  std::uint16_t usid() const { return usid_at < kUsidsPerCarrier ? usids[usid_at] : std::uint16_t{0}; }
  /// Nothing follows: a zero uSID alone does not say so, it may stand before others (and then leads nowhere).
  bool is_spent() const {
    for (int i = usid_at; i < kUsidsPerCarrier; ++i) {
      if (usids[i] != 0) return false;
    }
    return true;
  }
};
static_assert(sizeof(Frame) <= 48, "the simulator adds one wire::Packet and stays within two cache lines");

constexpr std::uint32_t destination_key(std::uint32_t t0, std::uint32_t downlink) {
  return t0 << 16 | downlink;
}

/// Which of the two queues a class waits in: feedback and trimmed headers go before all data.
constexpr bool goes_with_control(wire::TrafficClass c) {
  return c == wire::TrafficClass::control || wire::is_trimmed(c);
}
constexpr bool is_trimmable(wire::TrafficClass c) {
  return c == wire::TrafficClass::trimmable || c == wire::TrafficClass::trimmable_retx;
}

}  // namespace mrc::fabric
