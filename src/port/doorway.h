// What a program in the kernel does with each message before it reaches a UDP socket, and what we see of it
// in memory that both share: a message that goes on to the socket's queue rings (Doorbell); a short one,
// while somebody looks for it, is put down where we find it without a system call (Mailbox).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace mrc::port {

/// The memory. The kernel writes what is marked so, we the rest.
struct DoorwayMemory {
  static constexpr std::uint32_t kSlots = 64;
  static constexpr std::uint32_t kSlotBytes = 2048;
  static constexpr std::uint32_t kIpBytes = 40;

  /// A message in the mailbox. The kernel writes all of it.
  struct Slot {
    std::atomic<std::uint64_t> ready;  // 1 + its number: from then on the rest holds still
    std::uint32_t size;                // of `udp` that is used; 0: the message went to the queue after all
    std::uint32_t packet_bytes;        // of each packet of a coalesced message; 0: it is one packet
    std::uint32_t interface;
    std::uint32_t after;        // so many messages for the queue came before it, modulo 2^32
    std::uint8_t ip[kIpBytes];  // its IP header, as much of it as fits
    std::uint8_t udp[kSlotBytes - 64];
  };

  alignas(64) std::atomic<std::uint64_t> rings;       // kernel: messages for the socket's queue
  alignas(64) std::atomic<std::uint64_t> claimed;     // kernel: messages for the mailbox
  alignas(64) std::atomic<std::uint64_t> given_back;  // messages whose slots are free again
  std::atomic<std::uint32_t> attended;                // somebody looks again and again
  alignas(4096) Slot slots[kSlots];
};
static_assert(sizeof(DoorwayMemory::Slot) == DoorwayMemory::kSlotBytes);
static_assert(offsetof(DoorwayMemory::Slot, udp) == 64);

using SharedDoorway = std::shared_ptr<DoorwayMemory>;

/// The program stays with the socket for as long as that lives, or until another takes its place. EPERM
/// without the right to load programs (CAP_BPF).
Result<SharedDoorway> build_doorway(int socket);

}  // namespace mrc::port
