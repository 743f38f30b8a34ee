// The counters that become metrics: name, unit, sentence, and where the number is. One table per structure,
// used for devices, processes and QPs alike.
#pragma once

#include "node/exposition.h"
#include "node/facts.h"

namespace mrc::node {

template <class T>
struct Metric {
  const char* name;
  const char* unit;  // "" for a count of something
  const char* help;
  std::uint64_t T::*value;
};

inline constexpr Metric<QpTotals> kTotals[] = {
    {"tx_packets", "", "Data packets sent, repairs included.", &QpTotals::tx_packets},
    {"tx_bytes", "bytes", "Payload bytes sent, repairs included.", &QpTotals::tx_bytes},
    {"repairs", "", "Packets sent again.", &QpTotals::repairs},
    {"repeats", "", "Repairs of what was only late when it left again, lost or not.", &QpTotals::repeats},
    {"ack_timeouts", "", "Packets given up because no acknowledgement came in time.", &QpTotals::timeouts},
    {"probes", "", "Probes sent by QPs.", &QpTotals::probes},
    {"rx_packets", "", "Data packets received and placed.", &QpTotals::rx_packets},
    {"rx_bytes", "bytes", "Payload bytes received and placed.", &QpTotals::rx_bytes},
    {"duplicates", "", "Data packets received again.", &QpTotals::duplicates},
    {"trims", "", "Trimmed packets received.", &QpTotals::trims},
    {"ecn_marks", "", "Packets received with ECN-CE.", &QpTotals::marks},
    {"refused_packets", "", "Arrivals that were no packet for us.", &QpTotals::refused},
    {"failed_queue_pairs", "", "QPs that went to the error state by themselves.", &QpTotals::failed_qps},
};

inline constexpr Metric<PortCounters> kPortCounters[] = {
    {"rx_packets", "", "Packets received.", &PortCounters::rx_packets},
    {"rx_bytes", "bytes", "Bytes received, from the UDP payload on.", &PortCounters::rx_bytes},
    {"tx_packets", "", "Packets sent.", &PortCounters::tx_packets},
    {"tx_bytes", "bytes", "Bytes sent, from the UDP payload on.", &PortCounters::tx_bytes},
    {"tx_discarded_packets", "", "Packets that never left: no route, no such source port.",
     &PortCounters::tx_discarded},
    {"rx_overrun_packets", "", "Packets that the kernel dropped because nobody read in time.",
     &PortCounters::rx_overrun},
    {"rx_stray_packets", "", "Packets for another process of the node, handed over to it.",
     &PortCounters::rx_stray},
};

inline constexpr Metric<QpFacts> kQpCounters[] = {
    {"tx_packets", "", "Data packets sent, repairs included.", &QpFacts::tx_packets},
    {"tx_bytes", "bytes", "Payload bytes sent, repairs included.", &QpFacts::tx_bytes},
    {"repairs", "", "Packets sent again.", &QpFacts::repairs},
    {"repeats", "", "Repairs of what was only late when it left again, lost or not.", &QpFacts::repeats},
    {"probes", "", "Probes sent.", &QpFacts::probes},
    {"lost_by_order_packets", "", "Packets given up because a later one of their path had arrived.",
     &QpFacts::lost_by_order},
    {"lost_by_silence_packets", "", "Packets given up because they and a probe stayed unanswered.",
     &QpFacts::lost_by_silence},
    {"lost_by_timeout_packets", "", "Packets given up after the ACK timeout.", &QpFacts::lost_by_timeout},
    {"nacked_packets", "", "Packets that the responder asked for again.", &QpFacts::nacked},
    {"retries", "", "Retries that the QP has used.", &QpFacts::retries},
    {"rx_packets", "", "Data packets received and placed.", &QpFacts::rx_packets},
    {"rx_bytes", "bytes", "Payload bytes received and placed.", &QpFacts::rx_bytes},
    {"duplicates", "", "Data packets received again.", &QpFacts::duplicates},
    {"trims", "", "Trimmed packets received.", &QpFacts::trims},
    {"ecn_marks", "", "Packets received with ECN-CE.", &QpFacts::marks},
    {"sacks", "", "SACKs sent.", &QpFacts::sacks},
    {"nacks", "", "NACKs sent.", &QpFacts::nacks},
};

}  // namespace mrc::node
