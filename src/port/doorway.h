// What a program in the kernel does with each message before it reaches a UDP socket, and what we see of it
// in memory that both share: while somebody looks for it, a message is put down where we find it without a
// system call (Mailbox); if there is no room, or nobody looks, it goes on to the socket's queue and rings
// (Doorbell).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace mrc::port {

/// The memory. The kernel writes what is marked so, we the rest.
struct DoorwayMemory {
  static constexpr std::uint32_t kLetters = 128;
  static constexpr std::uint32_t kBytes =
      512 * 1024;  // more would leave the near caches, less is full too often
  static constexpr std::uint32_t kLongest = 65535;  // a message with its UDP header
  static constexpr std::uint32_t kGrain = 64;       // messages begin at multiples of it

  /// A message in the mailbox. The kernel writes all of it.
  struct Letter {
    std::atomic<std::uint64_t> ready;  // 1 + its number: from then on the rest holds still
    std::uint16_t size;                // with the UDP header
    std::uint16_t packet_bytes;        // of each packet of a coalesced message; 0: it is one packet
    std::uint32_t interface;
    std::uint32_t after;   // so many messages for the queue came before it, modulo 2^32
    std::uint32_t queued;  // not 0: it went to the queue after all
    std::uint8_t ip[40];   // its IP header, as much of it as fits
  };

  /// How many letters, and how many bytes of them: in one word, to be claimed together.
  struct Fill {
    std::uint64_t letters = 0;
    std::uint64_t bytes = 0;

    static constexpr unsigned kByteBits = 40;
    static constexpr std::uint64_t kByteMask = (std::uint64_t{1} << kByteBits) - 1;
    constexpr std::uint64_t word() const { return letters << kByteBits | (bytes & kByteMask); }
    constexpr void add(std::uint32_t size) { ++letters, bytes += (size + kGrain - 1) / kGrain * kGrain; }
  };

  alignas(64) std::atomic<std::uint64_t> rings;       // kernel: messages for the socket's queue
  alignas(64) std::atomic<std::uint64_t> claimed;     // kernel: a Fill
  alignas(64) std::atomic<std::uint64_t> given_back;  // a Fill
  std::atomic<std::uint32_t> attended;                // somebody looks again and again
  alignas(64) Letter letters[kLetters];
  /// Messages from their UDP header on, one behind the other: the place is the count of bytes modulo kBytes.
  /// One that begins near the end goes on behind it.
  alignas(4096) std::uint8_t bytes[kBytes + kLongest + 1];
};
static_assert(sizeof(DoorwayMemory::Letter) == 64);

using SharedDoorway = std::shared_ptr<DoorwayMemory>;

/// The program stays with the socket for as long as that lives, or until another takes its place. EPERM
/// without the right to load programs (CAP_BPF).
Result<SharedDoorway> build_doorway(int socket);

}  // namespace mrc::port
