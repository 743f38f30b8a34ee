// A bulk transfer that never ends, and a record of what happens to it: the subject of every recovery figure.
#pragma once

#include <optional>
#include <vector>

#include "pair/pair.h"

namespace mrc::pair {

/// Remembers, of side 0, what the figures need.
class Record final : public engine::EventSink {
 public:
  struct Sent {
    Time when;
    Psn psn;
    EvSlot slot;
    bool repair;
  };
  void on_event(const engine::Event& e) override;

  std::vector<Sent> sent;  // kept only while `keep` is on
  bool keep = false;
  std::optional<Psn> watch;                // a PSN that will be lost
  std::optional<Time> evidence, repaired;  // of that PSN: a newer packet was acknowledged; it was sent again
  std::vector<std::pair<Time, engine::PathChanged>> changes;
};

/// Side 0 writes to side 1 for as long as it runs.
class Stream {
 public:
  Stream(const PairConfig& config, std::uint32_t message = 64 * 1024);

  void run(Duration d);
  Pair& pair() { return pair_; }
  Record& record() { return record_; }
  /// Payload bytes placed so far.
  std::uint64_t placed() { return pair_.side(1).placed_bytes; }
  /// Bytes placed per microsecond over the next `d`.
  double rate(Duration d);
  /// Watches bins of `bin` over `horizon`: how long until the last one that stayed below `wanted` bytes per
  /// microsecond had passed.
  Duration settled_after(double wanted, Duration bin, Duration horizon);

 private:
  void refill();

  PairConfig config_;
  std::uint32_t message_;
  Record record_;
  Pair pair_;
  std::uint64_t posted_ = 0;
};

}  // namespace mrc::pair
