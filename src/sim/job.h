// A program at work on hosts: one job. It keeps where each rank stands and turns steps into messages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/step.h"
#include "sim/workload.h"

namespace mrc::sim {

/// Where ranks run, when they start, and which are slow.
struct Placement {
  std::vector<Host> host_of;  // by rank; distinct
  Ps start = 0;
  std::vector<float> slowdown;  // of compute steps, by rank; empty: none
};

class Job final : public Workload {
 public:
  /// `number` < 16 keeps the messages of several jobs apart.
  Job(std::uint32_t number, std::unique_ptr<Program> program, Placement placement, std::uint32_t hosts);

  bool takes_part(Host host) const override { return host < rank_of_.size() && rank_of_[host] != kNobody; }
  std::uint32_t peers(Host host) const override {
    return takes_part(host) ? program_->peers(rank_of_[host]) : 0;
  }
  void start(Host host, Actions& actions) override;
  void on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) override;
  void on_sent(Host host, const Message& message, Actions& actions) override;
  void on_timer(Host host, std::uint64_t token, Actions& actions) override;
  void on_signal(Host, std::uint64_t, Actions&) override {}
  std::string unfinished() const override;
  std::vector<std::uint64_t> standing(Host host) const override;
  void adopt(Host host, std::span<const std::uint64_t> standing) override;

  const Placement& placement() const { return placement_; }
  /// When the rank's last step ended; kNeverPs while it has not.
  Ps ended(Rank rank) const { return ranks_[rank].ended; }

  static constexpr std::uint32_t kMatchBits = 28;

 private:
  /// A message that came before the step that wants it.
  struct Early {
    std::uint32_t match;
    Rank from;
  };
  struct RankState {
    std::uint64_t number = 0;          // of the next step
    Step step;                         // the present one
    std::uint32_t sent = 0;            // its messages handed to the network,
    std::uint32_t acked = 0;           // acknowledged (for compute: the time has passed),
    std::uint32_t received = 0;        // and arrived
    std::uint32_t from_child[2] = {};  // of those, in a tree
    std::uint32_t up = 0, down = 0;    // tree: pieces sent to the parent, and to the children
    std::uint32_t flows = 0;           // messages of all steps: their names
    std::uint32_t flows_before =
        0;  // of earlier steps: a late acknowledgement of a `send` is not this step's
    bool running = false;
    Ps ended = kNeverPs;
    std::vector<Early> early;
  };

  void begin(Rank rank, Actions& actions);
  bool load_step(Rank rank);
  void note_arrival(Rank rank, Rank from);
  /// Does what can be done now, step after step.
  void advance(Rank rank, Actions& actions);
  void act(Rank rank, Actions& actions);
  bool complete(Rank rank) const;

  void send(Rank rank, Rank to, std::uint64_t bytes, Actions& actions);
  void send_to_all(Rank rank, Actions& actions);
  void send_in_tree(Rank rank, Actions& actions);
  std::uint64_t share(const Step& step, Rank to) const;
  std::uint64_t token(const RankState& state) const { return std::uint64_t{number_} << 60 | state.number; }

  const std::uint32_t number_;
  std::unique_ptr<Program> program_;
  Placement placement_;
  std::vector<Rank> rank_of_;  // by host
  std::vector<RankState> ranks_;
};

}  // namespace mrc::sim
