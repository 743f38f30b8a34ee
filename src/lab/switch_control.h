// What one may tell a running switch, as lines of text: faults of its ports, and its counters.
//
//   state PORT up|down|black_hole     loss PORT 0.2     rate PORT 1G|default     stats
// The answer is "ok", one JSON object, or "error: " and a sentence. A fault is of the direction that leaves
// the port.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/soft_switch.h"
#include "port/fd.h"

namespace mrc::lab {

std::string obey(SoftSwitch& sw, std::string_view line);
std::string stats_json(const SoftSwitch& sw);

/// A local socket in the switch's network namespace, a few clients at a time, one line and one answer per
/// message. Its name vanishes with the switch.
class SwitchControl {
 public:
  static Result<SwitchControl> open(const std::string& name);

  std::vector<int> fds() const;
  /// Takes in new clients and serves those that have spoken. Never waits.
  void serve(SoftSwitch& sw);

 private:
  static constexpr std::size_t kMaxClients = 8;
  explicit SwitchControl(port::Fd listener) : listener_(std::move(listener)) {}

  port::Fd listener_;
  std::vector<port::Fd> clients_;
};

/// Says one line to the switch that listens under `name` in this network namespace, and returns its answer.
Result<std::string> tell_switch(const std::string& name, const std::string& line);

}  // namespace mrc::lab
