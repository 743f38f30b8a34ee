// An arrival: what the event loop moves and sorts. 16 bytes; all that is known about the frame itself lies in
// its slot.
#pragma once

#include <cstdint>

#include "sim/ps.h"

namespace mrc::sim {

struct Transit {
  Ps when = 0;             // at the node whose inbox holds it
  std::uint32_t via = 0;   // topo::Hop::index() of the link that it came over, or signal_via() of who sent it
  std::uint32_t slot = 0;  // of the SlotStore

  bool operator==(const Transit&) const = default;
};
static_assert(sizeof(Transit) == 16);

/// Not every arrival is a frame: a word from node to node outside the fabric (a fault that strikes, a barrier
/// that opens) is one too. Links have numbers below this.
inline constexpr std::uint32_t kSignals = 1u << 31;
/// A word from switch to neighbour that stops or releases its data (PFC, in baselines): named by the hop that
/// it comes over, apart from the frames of that hop.
inline constexpr std::uint32_t kPauses = 1u << 30;
constexpr std::uint32_t signal_via(std::uint32_t from) { return kSignals | from; }
constexpr bool is_signal(const Transit& t) { return t.via >= kSignals; }
constexpr std::uint32_t pause_via(std::uint32_t hop) { return kPauses | hop; }
constexpr bool is_pause(const Transit& t) { return t.via >> 30 == 1; }
constexpr std::uint32_t pause_hop(const Transit& t) { return t.via & ~kPauses; }
constexpr std::uint32_t signal_sender(const Transit& t) { return t.via & ~kSignals; }

/// The order of arrivals at one node, the same on any number of threads: a link delivers one frame at a time,
/// and a sender one signal, so the two fields name an arrival. Slot numbers depend on threads and must not
/// count.
constexpr bool arrives_before(const Transit& a, const Transit& b) {
  return a.when != b.when ? a.when < b.when : a.via < b.via;
}

}  // namespace mrc::sim
