// One end of a pair: the real QueuePair, memory that counts how often each byte was written, and what
// completed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/queue_pair.h"

namespace mrc::pair {

/// One region of memory behind one key. It stores no bytes but how often each was written: the oracle of
/// placement.
class CountingMemory final : public engine::Memory {
 public:
  static constexpr std::uint64_t kBase = 0x10000;
  CountingMemory(std::size_t size, RKey key) : writes_(size), key_(key) {}

  Access check(RKey rkey, std::uint64_t va, std::uint32_t length) override {
    if (rkey != key_) return Access::bad_rkey;
    const bool inside = va >= kBase && length <= writes_.size() && va - kBase <= writes_.size() - length;
    return inside ? Access::ok : Access::out_of_bounds;
  }
  void place(std::uint64_t va, std::uint32_t length) {
    for (std::uint32_t i = 0; i < length; ++i) ++writes_[va - kBase + i];
  }
  const std::vector<std::uint8_t>& writes() const { return writes_; }
  RKey key() const { return key_; }

 private:
  std::vector<std::uint8_t> writes_;
  RKey key_;
};

struct Endpoint {
  Endpoint(const engine::QpConfig& config, std::unique_ptr<engine::Congestion> cc, std::size_t records,
           std::size_t region, engine::EventSink* sink)
      : congestion(std::move(cc)),
        pool(records),
        qp(config, *congestion, pool, sink),
        memory(region, RKey(0xABCD)) {}

  std::unique_ptr<engine::Congestion> congestion;
  engine::RecordPool pool;
  engine::QueuePair qp;
  CountingMemory memory;
  std::vector<engine::Completion> completions;
  std::uint64_t placed_bytes = 0;
  std::uint64_t placed_packets = 0;
  std::vector<std::uint64_t> verdicts = std::vector<std::uint64_t>(kVerdictCount);
};

}  // namespace mrc::pair
