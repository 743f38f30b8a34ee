// Probes that ask a suspect path, or anybody at all, a question whose answer or silence will be used as
// proof.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.h"
#include "engine/record_pool.h"

namespace mrc::engine {

enum class Question : std::uint8_t {
  free,     // unused entry
  suspect,  // did this path lose what it carried?
  anyone,   // does the peer still answer?
  reverse,  // would our answers get through on this path?
};

struct PendingProbe {
  Question question = Question::free;
  bool sent = false;
  bool told = false;     // by another QP, which knows already
  bool expired = false;  // its patience has passed; only news from elsewhere can turn that into a verdict
  EvSlot slot;
  std::uint16_t id = 0;
  std::uint32_t patience = 0;  // ns from sent_at until silence means something
  TxOrder order;
  Ticks sent_at;

  bool open() const { return question != Question::free; }
  bool overdue(Time now) const { return sent && sent_at.age(now) >= Duration(patience); }
};

/// A handful at a time; a question that finds no room is asked at the next occasion. The last entry is kept
/// for "does the peer still answer?": without that answer no silence proves anything, however many suspects
/// wait.
using ProbeTable = std::array<PendingProbe, 8>;
inline constexpr std::size_t kSharedProbes = std::tuple_size_v<ProbeTable> - 1;

}  // namespace mrc::engine
