// The controller's part of the hand on a device: EVs of our own choice and a word on one of them, and
// congestion control as a check wants it.
#pragma once

#include <mrc_ctl.h>

#include "base/ids.h"
#include "base/result.h"
#include "engine/nscc_config.h"

namespace mrc::tools {

/// An EV profile of explicit UDP source ports. It needs CAP_NET_ADMIN; without, make() is an error and
/// nothing is left.
class ConformControl {
 public:
  static constexpr std::uint64_t kProfile = 4791;

  Status make(mrc_context* context);
  Status set_state(mrc_context* context, Ev ev, bool denied);
  /// The CC profile kProfile becomes this one. REQUIRES: no QP uses it.
  Status set_congestion(mrc_context* context, const engine::NsccConfig& config);
  /// Everything GOOD again.
  void forgive(mrc_context* context);

 private:
  Ev denied_{0};
};

}  // namespace mrc::tools
