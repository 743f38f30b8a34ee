// What a slot holds: a frame as the fabric sees it, and the packet in it that only the two NICs read.
#pragma once

#include <cstdint>

#include "fabric/frame.h"
#include "wire/packet.h"

namespace mrc::sim {

/// Two cache lines: switches touch the first, NICs the second.
struct alignas(64) Cargo : fabric::Frame {
  std::uint32_t source = 0;  // host; of a signal: who is meant, the program or the transport
  std::uint32_t slot = 0;    // its own number
  std::uint64_t word = 0;    // of a signal
  alignas(64) wire::Packet packet;
};
static_assert(sizeof(Cargo) == 128);

inline constexpr std::uint32_t kProgramWord = 0, kTransportWord = 1;

}  // namespace mrc::sim
