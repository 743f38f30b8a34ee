// Which planes to a peer are dead, from several looks at them.
//
// A path that fails comes back when an answer does. On a machine that keeps a process from running that may
// take longer than one look: dead is what was so at each.
#pragma once

#include <cstdint>

namespace mrc::collective {

class PlaneLooks {
 public:
  /// A bit for each plane that carried nothing.
  void note(std::uint32_t bad) {
    dead_ = looked_ ? dead_ & bad : bad;
    looked_ = true;
  }
  bool any_dead() const { return dead_ != 0; }

 private:
  std::uint32_t dead_ = 0;
  bool looked_ = false;
};

}  // namespace mrc::collective
