// What an environment may change about the soft device, each with its default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "engine/congestion_profile.h"
#include "nic/settings.h"
#include "wire/settings.h"

namespace mrc::lib {

/// How packets reach the wire.
enum class PortKind : std::uint8_t {
  udp,     // sockets: no privileges, several processes per address
  packet,  // whole frames through packet sockets: SRv6 as specified; CAP_NET_RAW, one process per address
  xdp,     // the same through AF_XDP; CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW, one process per interface
};

inline constexpr std::uint8_t kMaxSprayUnit = 64;

struct DeviceSettings {
  PortKind port = PortKind::udp;  // MRC_PORT: udp, packet or xdp
  std::uint16_t udp_port = 4791;  // MRC_UDP_PORT
  std::uint8_t spray_unit = 1;    // MRC_SPRAY_UNIT: packets in a row on one EV; 1 is the conformant mode,
                                  // 0: as many as one send carries
  std::uint8_t ask_ahead = 0;     // MRC_ASK_AHEAD: EVs that a new QP asks at a time before it has data
  bool answers_follow = false;    // MRC_ANSWERS_FOLLOW: answers take the EV that the packet came by
  std::uint8_t tail = 0;          // MRC_TAIL: eighths of the usual time after which a late tail is repeated
  std::uint16_t evs = 128;        // MRC_EVS: of a QP that names no profile, over all ports
  bool icrc = true;               // MRC_ICRC: off only where the network is trusted at both ends
  engine::CcAlgorithm cc = engine::CcAlgorithm::nscc;  // MRC_CC: nscc, off, or constant:BYTES
  std::uint32_t cc_window = 0;                         // of `constant`
  bool learn_base_rtt = true;  // of the default NSCC: its base and target follow what is measured,
  Duration learn_queue = 0us;  // MRC_QUEUE_US: its maximum window follows the rate measured and leaves a
                               // queue so long. Where links are slower than cores; 0: the maximum stays,
  std::uint8_t least_window =
      4;  // and its window falls to no less MTUs: what makes a host late is seldom the network
  // MRC_SACK_BYTES: a SACK at least every so many bytes; 0: every 16 KiB, or four spray units if that is
  // more.
  std::uint32_t sack_bytes = 0;
  bool restore_at_end = true;  // MRC_RESTORE_AT_END: senders hear when all that is still to come fits here
  wire::Settings wire;         // MRC_DSCP: its class numbers, as in control=46,trimmable=18
  nic::SchedulerSettings scheduler;  // MRC_LEVELS: strict, weighted, or weighted:W0,...,W15
  // A host's scheduler makes every process late now and then: silence means less than in hardware. And
  // thousands of QPs that all ask "are you there?" at once make it worse: see docs/decisions/0022.
  nic::ProbeSettings probes{.at_once = 256, .interval = 100us, .question_gap = 250us};
  // A QP that only receives asks whether its answers get through once per round trip and so many packets, or
  // per so many round trips: a question costs as much as a train.
  std::uint16_t reverse_probe_packets = 256;
  std::uint8_t reverse_probe_trickle = 128;
  Duration initial_rtt = 2ms;    // of a path that has not been measured
  Duration suspect_slack = 1ms;  // MRC_SLACK_US: how much later than usual an answer may be
  Duration spin = 50us;          // MRC_SPIN_US: how long the progress thread looks before it sleeps
  /// MRC_ASIDE_US: the progress thread leaves the work to an application that polled within this. 0: it never
  /// does, so that several devices of one process are driven side by side.
  Duration aside = 500us;
  bool mailbox = true;     // MRC_MAILBOX: packets skip the UDP socket while somebody looks for them
  // What is posted on a QP with at most so much work outstanding leaves at once, while at most so many QPs
  // have packets in flight.
  std::uint16_t few = 8;
  Duration turn_every = 20us;  // an application that is busy with completions turns the datapath this often
  std::uint16_t first_source_port = 61000;  // AUTO EVs: outside Linux's ephemeral range
  std::uint16_t last_source_port = 65535;
  std::uint32_t packets_in_flight = 1 << 17;  // of all QPs together
  std::string socket;    // MRC_SOCKET: where mrcd listens, when there is one; empty: work alone
  std::string metrics;   // MRC_METRICS: serve metrics of this process at [ADDRESS:]PORT; empty: don't
  bool is_node = false;  // mrcd's own device: answers endpoint operations before any other process does
};

/// Congestion control, from its words: MRC_CC or `mrc perf --cc`. EINVAL says what they may be.
Status read_cc(std::string_view text, DeviceSettings& out);

/// The two settings of quality of service, from their words. EINVAL says what they may be.
Status read_dscp(std::string_view text, wire::Settings& out);
Status read_levels(std::string_view text, nic::SchedulerSettings& out);

/// From the environment. EINVAL names the variable and what it may be.
Result<DeviceSettings> read_device_settings();

}  // namespace mrc::lib
