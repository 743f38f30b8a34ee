// From a topology to the settings of one of its switches, for the switch that runs on real interfaces.
#pragma once

#include "lab/soft_switch.h"
#include "topo/topo.h"

namespace mrc::lab {

/// What a person may set for all ports of a switch. Rates are the topology's unless `limit_rate` is off.
struct SwitchTuning {
  fabric::LinkSettings link;  // limits, ECN and trimming; its rate, delay and direction are not used
  wire::Settings wire;
  bool limit_rate = true;
  std::uint64_t seed = 1;
};

SoftSwitchSettings switch_settings(const topo::Topology& topo, topo::Node sw, const SwitchTuning& tuning);
fabric::LinkSettings link_settings(const topo::Topology& topo, topo::Attachment at,
                                   const SwitchTuning& tuning);

}  // namespace mrc::lab
