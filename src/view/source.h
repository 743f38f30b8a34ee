// Where frames come from, and what one can do to it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "view/frame.h"

namespace mrc::view {

struct Action {
  enum class Verb : std::uint8_t {
    fail,     // `target` goes down, or with `silent` swallows everything, or loses `loss` of what passes
    heal,     // `target`, or everything when it is empty
    pause,    // simulated time stands still
    resume,   // and goes on
    pace,     // so many simulated seconds per second
    restart,  // from the beginning
    focus,    // more detail of a plane, or of the T0s around one of its T0s
  };
  Verb verb = Verb::fail;
  std::string target;
  bool silent = false;
  double loss = 0;
  double pace = 0;
  std::optional<std::uint32_t> plane, t0, host;
};

/// Reads {"verb": "fail", "target": "p0.t1.2", ...}; says what is wrong with anything else.
Result<Action> parse_action(std::string_view json);

class Source {
 public:
  virtual ~Source() = default;
  virtual const Fabric& fabric() const = 0;
  virtual const topo::Topology& topo() const = 0;
  /// Frames as JSON, from a thread of the source's own, until the source is destroyed.
  using Sink = std::function<void(std::string frame)>;
  virtual void start(Sink sink) = 0;
  /// From any thread. What it does shows in a later frame.
  virtual Status act(const Action& action) = 0;
};

}  // namespace mrc::view
