// The process that keeps a lab alive: it holds the namespaces, obeys commands, and flaps what shall flap.
// When it ends, everything ends.
#pragma once

#include <chrono>

#include "lab/channel.h"
#include "lab/faults.h"

namespace mrc::lab {

using Clock = std::chrono::steady_clock;

/// A target that goes down and comes back by itself.
struct Flap {
  Target target;
  How how = How::admin;
  Clock::duration down{}, up{};
  std::uint32_t times_left = 0;
  bool is_down = false;
  Clock::time_point due;
};

class Keeper {
 public:
  Keeper(const Wiring& wiring, Faults& faults) : wiring_(wiring), faults_(faults) {}

  /// Serves until told to end, by SIGTERM or SIGINT, or, when there is an `owner` (else -1), until the owner
  /// closes its end.
  void run(int listener, int owner);

 private:
  Answer obey(const Words& words, std::vector<int>& descriptors);
  Result<std::string> act(const Words& words, std::vector<int>& descriptors);
  Result<std::string> break_something(const Words& words);
  Result<std::string> start_flap(const Words& words);
  Result<std::string> open_node(const Words& words, std::vector<int>& descriptors);
  std::string status() const;
  bool serve(int client);
  void step_flaps(Clock::time_point now);
  int patience(Clock::time_point now) const;

  const Wiring& wiring_;
  Faults& faults_;
  std::vector<Flap> flaps_;
  std::vector<Fd> clients_;
  Fd user_space_, pid_space_;
  bool ending_ = false;
};

}  // namespace mrc::lab
