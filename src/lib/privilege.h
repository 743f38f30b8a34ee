// Who may act as the controller of this node.
#pragma once

namespace mrc::lib {

/// MRC-CTL-002: a controller needs CAP_NET_ADMIN. Asked at each call: programs drop it when they have done
/// their part.
bool may_control();

}  // namespace mrc::lib
