// What a node tells about itself: devices, ports, processes, queue pairs with their counters and paths. One
// snapshot holds it all; `mrc ctl snapshot`, `mrc top` and exporters read the same structures.
//
// Counters only grow while their process lives. Rates are for the reader to compute: two snapshots, and the
// difference of ProcessFacts::taken_ns between them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"

namespace mrc::node {

using AddressBytes = std::array<std::uint8_t, 16>;  // IPv6, or IPv4 as ::ffff:a.b.c.d

/// Of one port, as one process uses it.
struct PortCounters {
  std::uint64_t rx_packets = 0, rx_bytes = 0;
  std::uint64_t tx_packets = 0, tx_bytes = 0;
  std::uint64_t tx_discarded = 0;  // never left: no route, no such source port
  std::uint64_t rx_overrun = 0;    // the kernel dropped them because nobody read in time
  std::uint64_t rx_stray = 0;      // another process's, handed over to it
  bool operator==(const PortCounters&) const = default;
};

struct PortFacts {
  PortId port;
  std::string interface;
  AddressBytes address{};
  bool admin_enabled = true;  // the controller's word
  bool link_up = false;       // the interface's word
  std::uint32_t link_mtu = 0;
  std::uint64_t bits_per_second = 0;
  PortCounters counters;
};

/// What the QPs of a process have done, also those that are gone.
struct QpTotals {
  std::uint64_t tx_packets = 0, tx_bytes = 0;  // data, repairs included
  std::uint64_t repairs = 0, repeats = 0, timeouts = 0, probes = 0;
  std::uint64_t rx_packets = 0, rx_bytes = 0;
  std::uint64_t duplicates = 0, trims = 0, marks = 0;
  std::uint64_t refused = 0;  // arrivals that were no packet for us
  std::uint64_t failed_qps = 0;
  bool operator==(const QpTotals&) const = default;
};

enum class EvFactState : std::uint32_t { good, skip, assumed_bad, denied };

struct EvFacts {
  Ev ev;
  PortId port;
  EvFactState state = EvFactState::good;
};

enum class QpFactState : std::uint32_t { reset, init, rtr, rts, error };

struct QpFacts {
  Qpn qpn, remote_qpn;
  QpFactState state = QpFactState::reset;
  AddressBytes peer{};
  std::uint64_t ev_profile = 0, cc_profile = 0;  // 0: the provider's own
  std::uint8_t service_level = 0;
  // as requestor
  std::uint64_t tx_packets = 0, tx_bytes = 0, repairs = 0, repeats = 0, probes = 0;
  std::uint64_t lost_by_order = 0, lost_by_silence = 0, lost_by_timeout = 0;
  std::uint64_t nacked = 0, retries = 0;
  std::uint64_t rtt_ns = 0;    // smoothed; 0: no sample yet
  std::uint64_t window = 0;    // bytes, of the destination: its QPs share it
  std::int64_t in_flight = 0;  // bytes, of the destination
  std::uint32_t unacked = 0;   // packets of this QP in flight
  std::uint32_t posted = 0;    // work requests not yet completed
  // as responder
  std::uint64_t rx_packets = 0, rx_bytes = 0, duplicates = 0, trims = 0, marks = 0;
  std::uint64_t sacks = 0, nacks = 0;
  // paths
  std::array<std::uint16_t, 4> evs_in_state{};  // by EvFactState
  std::vector<EvFacts> evs;                     // when asked for: one per slot
};

/// One process on one device.
struct ProcessFacts {
  std::uint32_t pid = 0, uid = 0;  // as the kernel says
  std::string program;
  std::string device;
  Qpn first_qpn, last_qpn;     // its range
  std::uint64_t taken_ns = 0;  // CLOCK_MONOTONIC of this node when these numbers were read
  bool answered = true;        // false: it did not answer in time, and these are its last numbers
  std::uint32_t qp_count = 0;
  QpTotals totals;
  std::vector<PortFacts> ports;
  std::vector<QpFacts> qps;
};

struct DeviceFacts {
  std::string name;
  std::uint64_t guid = 0;
  std::vector<PortFacts> ports;  // counters: of all processes, also those that have ended
  QpTotals totals;               // the same
  std::uint32_t formats = 0, ev_profiles = 0, cc_profiles = 0;
};

struct Snapshot {
  std::uint32_t mrcd_pid = 0;
  std::string host;
  std::string version;
  std::uint64_t time_ns = 0;  // CLOCK_REALTIME
  std::uint64_t uptime_ns = 0;
  bool truncated = false;  // more QPs than one snapshot carries
  std::vector<DeviceFacts> devices;
  std::vector<ProcessFacts> processes;
};

/// One JSON object, as docs/operating/mrcd.md describes it.
std::string to_json(const Snapshot& snapshot);

const char* name_of(EvFactState state);
const char* name_of(QpFactState state);
std::string address_text(const AddressBytes& address);

// Sums, for totals over processes.
PortCounters& operator+=(PortCounters& a, const PortCounters& b);
QpTotals& operator+=(QpTotals& a, const QpTotals& b);

}  // namespace mrc::node
