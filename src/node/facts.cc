#include "node/facts.h"

#include "wire/address.h"

namespace mrc::node {

const char* name_of(EvFactState state) {
  switch (state) {
    case EvFactState::good: return "good";
    case EvFactState::skip: return "skip";
    case EvFactState::assumed_bad: return "assumed_bad";
    case EvFactState::denied: return "denied";
  }
  return "?";
}

const char* name_of(QpFactState state) {
  switch (state) {
    case QpFactState::reset: return "reset";
    case QpFactState::init: return "init";
    case QpFactState::rtr: return "rtr";
    case QpFactState::rts: return "rts";
    case QpFactState::error: return "error";
  }
  return "?";
}

std::string address_text(const AddressBytes& address) { return to_string(wire::IpAddress{address}); }

PortCounters& operator+=(PortCounters& a, const PortCounters& b) {
  a.rx_packets += b.rx_packets;
  a.rx_bytes += b.rx_bytes;
  a.tx_packets += b.tx_packets;
  a.tx_bytes += b.tx_bytes;
  a.tx_discarded += b.tx_discarded;
  a.rx_overrun += b.rx_overrun;
  a.rx_stray += b.rx_stray;
  return a;
}

QpTotals& operator+=(QpTotals& a, const QpTotals& b) {
  a.tx_packets += b.tx_packets;
  a.tx_bytes += b.tx_bytes;
  a.repairs += b.repairs;
  a.repeats += b.repeats;
  a.timeouts += b.timeouts;
  a.probes += b.probes;
  a.rx_packets += b.rx_packets;
  a.rx_bytes += b.rx_bytes;
  a.duplicates += b.duplicates;
  a.trims += b.trims;
  a.marks += b.marks;
  a.refused += b.refused;
  a.failed_qps += b.failed_qps;
  return a;
}

}  // namespace mrc::node
