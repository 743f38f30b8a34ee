// What became of a frame at a switch or on a link. One word per outcome: the same in code, counters, reports
// and tests.
#pragma once

#include <cstdint>
#include <string_view>

namespace mrc::fabric {

#define MRC_FATES(X)                                                    \
  X(passed, "queued, or delivered by the link")                         \
  X(trimmed, "payload cut off, queued with control")                    \
  X(trimmed_lasthop, "payload cut off at the egress toward its host")   \
  /* from here on the frame is gone: its owner takes it back */         \
  X(queue_full, "no room, and not trimmable")                           \
  X(control_full, "no room for a control frame or a trimmed one")       \
  X(too_short, "fewer bytes than its headers need")                     \
  X(not_ipv6, "not an IPv6 packet")                                     \
  X(outside_locator, "destination lies outside the fabric's locator")   \
  X(no_route, "no entry for its uSID or destination")                   \
  X(carrier_spent, "addressed to this switch, with nowhere left to go") \
  X(bad_srh, "malformed segment routing header")                        \
  X(hop_limit, "hop limit exceeded")                                    \
  X(link_down, "the link is down, and the switch knows")                \
  X(black_hole, "the link swallows everything, and nobody knows")       \
  X(lost, "lost at random on the link")

enum class Fate : std::uint8_t {
#define MRC_FATE_NAME(name, text) name,
  MRC_FATES(MRC_FATE_NAME)
#undef MRC_FATE_NAME
};

inline constexpr int kFateCount = 0
#define MRC_FATE_ONE(name, text) +1
    MRC_FATES(MRC_FATE_ONE)
#undef MRC_FATE_ONE
    ;

constexpr bool is_gone(Fate f) { return f > Fate::trimmed_lasthop; }

std::string_view name(Fate f);
std::string_view explain(Fate f);

}  // namespace mrc::fabric
