// What must hold whatever the weather: the promises of a QP, checked from outside.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pair/pair.h"
#include "pair/storm.h"
#include "pair/storm_world.h"

namespace mrc::pair {

class StormOracle final : public engine::EventSink {
 public:
  explicit StormOracle(const World& world) : world_(world) {}

  /// Looks at every packet that leaves.
  void watch(Pair& pair);
  void on_event(const engine::Event& e) override;

  void note_post(int from, std::uint64_t wr_id, std::uint32_t offset, std::uint32_t length,
                 std::optional<std::uint32_t> imm);
  void note_receive(int side, std::uint64_t wr_id) { receives_[side].push_back(wr_id); }
  void note_restart() { restarted_ = true; }

  bool good() const { return broken_.empty(); }
  /// Every posted work has completed, one way or the other.
  bool all_done() const;
  StormOutcome verdict(Pair& pair);

 private:
  struct Work {
    std::uint64_t wr_id;
    std::uint32_t offset, length;
    std::optional<std::uint32_t> imm;
  };
  void broke(std::string what) {
    if (broken_.empty()) broken_ = std::move(what);
  }
  void digest(std::uint64_t v) { trace_ = (trace_ ^ v) * 0x100000001B3; }
  void on_send(Pair& pair, Time now, int from, const engine::Transmit& t);
  void check_completions(Pair& pair, int side);
  void check_receives(Pair& pair, int side);
  void check_bytes(Pair& pair, int side);
  void check_packets(Pair& pair);
  void check_memory(Pair& pair);
  void check_balance();

  const World& world_;
  Pair* pair_ = nullptr;
  std::vector<Work> works_[2];
  std::vector<std::uint64_t> receives_[2];
  std::uint64_t per_port_[2][kMaxPorts + 1] = {};
  std::uint64_t data_sent_[2] = {};
  std::size_t free_slabs_ = 0, bytes_ = 0;
  bool restarted_ = false;
  std::string broken_;
  std::uint64_t trace_ = 0xCBF29CE484222325;
};

}  // namespace mrc::pair
