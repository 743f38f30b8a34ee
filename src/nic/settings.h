// Every knob of the software NIC on one page, each with its sentence, and the limits that size it at
// creation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ids.h"
#include "base/time.h"

namespace mrc::nic {

inline constexpr int kServiceLevels = 16;

enum class LevelPolicy : std::uint8_t {
  strict,    // a higher service level always goes first
  weighted,  // each level with something to send gets its share
};

struct SchedulerSettings {
  LevelPolicy levels = LevelPolicy::strict;
  std::array<std::uint8_t, kServiceLevels> weights = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  std::uint8_t quantum = 1;  // packets of one QP before the next one's turn; at least the QP's spray unit
  // Spray units wait until they fit the congestion window as a whole, but no longer than this in a window
  // that others hold without moving.
  Duration unit_patience = 1ms;
};

/// Probes of all QPs together; see probe_budget.h.
struct ProbeSettings {
  std::uint16_t at_once = 0;  // that wait for an answer; 0: no limit
  Duration interval = 50us;   // and one more per interval when none comes
  Duration doubt_interval =
      10ms;  // a plane that one QP gave up is asked by all others to that peer, so often at most
  Duration question_gap = 0us;  // between questions of QPs that receive little, whether answers get through
};

struct EndpointSettings {
  Duration announce_interval = 100us;  // a Port Status Update is repeated after this, doubling
  Duration announce_backoff_max = 100ms;
  // A daemon that answers for processes whose peers it does not know sets it.
  bool port_status_from_strangers = false;
  std::uint16_t announce_tries = 64;  // then the peer is taken for gone: its own timeouts will tell
  Duration probe_timeout = 1s;        // an EV probe that stays unanswered is reported lost
  std::uint16_t first_id = 0;         // ids of our requests: these bits,
  std::uint16_t id_mask = 0xFFFF;     // and any of those; processes of a node have disjoint ones
};

/// Memory is taken for these at creation; a full table refuses.
struct NicLimits {
  std::uint32_t qps = 64;  // rounded up to a power of two
  std::uint32_t regions = 64;
  std::uint32_t packets_in_flight = 8192;  // records of the engine's pool, 12.25 bytes each
  std::uint16_t endpoint_replies = 32;     // answers on QP 2 that wait for a port
  std::uint16_t endpoint_requests = 32;    // own requests on QP 2 that wait for an answer
};

/// QP numbers that this NIC hands out. Processes that share a device have disjoint ranges.
struct QpnSpan {
  Qpn first{16};
  Qpn last{0xFFFFFF};
  std::uint32_t start =
      0;  // whoever takes over a range begins elsewhere: the last holder's packets still fly
};

}  // namespace mrc::nic
