// Every knob of the engine on one page, each with its sentence. Defaults are the specification's, or our
// decision where it is silent; docs/decisions says why.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "engine/types.h"

namespace mrc::engine {

struct PathSettings {
  std::uint16_t active_per_plane = 0;  // EVs in rotation per plane, the rest in reserve; 0: all
  std::uint16_t min_active = 1;        // an EV is not withdrawn when fewer than this many would stay in use
  std::uint8_t spray_unit = 1;  // full packets in a row on one EV, or as many bytes of short ones; 1: each on
                                // its own, the conformant mode
  std::uint8_t reshuffle_reach = 4;        // places by which an EV moves in the order per round; 0: anywhere
  std::uint8_t probes_to_return = 3;       // answers in a row that bring an ASSUMED_BAD EV back
  std::uint8_t max_probes_to_return = 48;  // for an EV that keeps failing while the others do not
  std::uint8_t trials_passed_over = 16;    // EVs that owe their first answer, at most so many per packet
  // A path with a long queue shows in its answers: an EV with so many packets unanswered (0: whatever they
  // do), the oldest of them for so many eighths of what an answer usually takes, is passed over,
  std::uint8_t late_packets = 3;
  std::uint8_t late_eighths = 12;
  std::uint8_t late_growth = 1;  // and has one packet in flight then, a quarter more per answer in time
  // Answers take the way that what they answer came by, where it is in service here too: those of many QPs
  // then load all links alike. Off: each QP answers by one EV per plane while that works.
  bool answers_follow = false;
  // A QP that has carried nothing yet asks its EVs, so many at a time: what is dead from the start then costs
  // probes and no packets. 0: data finds out.
  std::uint8_t ask_ahead = 0;
  // Parts that can be switched off, to see what each is worth.
  bool skip_on_mark = true;      // an ECN mark makes its EV miss a turn
  bool skip_on_trim = true;      // and so does a trim inside the fabric
  std::uint32_t flowlet_ns = 0;  // keep to one EV until nothing left for so long; 0: spray by units
  std::uint32_t probe_backoff_max_us = 1'000'000;  // an unanswered probe doubles its interval up to this
};

enum class WindowPolicy : std::uint8_t { nack, drop };  // a PSN beyond the receive window

struct ResponderSettings {
  std::uint32_t sack_bytes = 16 * 1024;  // a SACK at least every so many bytes
  std::uint16_t sack_min_count = 1024;   // each packet counts at least this many bytes toward it
  WindowPolicy out_of_window = WindowPolicy::nack;
  bool sack_after_trim = true;  // the next packet after a trimmed one is answered at once
  bool trim_nack = true;        // both sides enabled trim NACKs
  bool service_time = true;     // advance the echoed timestamp by the time the packet was held
  bool restore_at_end = true;   // tell senders when all that the NIC still expects fits its port
};

struct RequestorSettings {
  std::uint8_t timeout = 14;             // 1.024 us * 2^t without progress is one retry
  std::uint8_t linear_retries = 7;       // at that timeout; then
  std::uint8_t exponential_retries = 7;  // doubling each time; 25 means for ever
  std::uint8_t retry_packets = 4;        // repeated at a timeout when nothing at all was heard
  bool timestamps = true;                // TSETH in data packets
  bool trimmable = true;                 // the peer answers trimmed packets with a NACK
  std::uint16_t reverse_probe_packets =
      64;  // while only receiving, a probe of a reverse path per round trip and so many packets
  std::uint8_t reverse_probe_trickle = 32;  // or per so many round trips, when fewer arrive
  // Whoever waits for the end of a message waits for its slowest path: a packet that nothing new can
  // overtake, unanswered for so many eighths of what an answer usually takes, is sent once more by another
  // EV. 0: only what is known to be lost is sent again.
  std::uint8_t tail_eighths = 0;
  // Loss inference: see docs/engine/loss.md.
  std::uint8_t suspect_eighths = 10;  // silent for 10/8 of its path's RTT: ask the path with a probe
  std::uint8_t silence_eighths = 12;  // and silent to the probe for 12/8 of it: the path is dead
  Duration suspect_slack = 2us;       // added, for the responder's SACK coalescing and clock grain
  Duration initial_rtt = 100us;       // until the first sample
};

inline constexpr std::uint8_t kRetryForEver = 25;

struct QpLimits {
  std::uint16_t send_depth = 128;  // work requests outstanding
  std::uint16_t recv_depth = 128;  // receives posted for immediates
  std::uint16_t path_mtu = 4096;
  std::uint8_t mpr = kMinMpr;        // as requestor: units of kMprUnit that the peer accepts
  std::uint8_t mpr_dest = kMinMpr;   // as responder: units that we accept
  std::uint16_t max_wimm = 32;       // immediates in flight, as requestor
  std::uint16_t max_wimm_dest = 32;  // as responder
  bool dynamic_mpr = false;          // both ends enabled it
};

}  // namespace mrc::engine
