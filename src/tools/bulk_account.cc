// What one end of a transfer knows when it gives up: enough to tell a dead path from a shut window, and both
// from a machine that had no time for us.
#include <fstream>
#include <sstream>

#include "lib/nic_qp.h"
#include "tools/bulk_side.h"

namespace mrc::tools {
namespace {

void tell_verdicts(std::ostream& out, const Counters<Verdict, kVerdictCount>& verdicts) {
  for (int v = 0; v < kVerdictCount; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    if (verdicts[verdict] > 0) out << ' ' << name(verdict) << ' ' << verdicts[verdict];
  }
}

/// Per plane: how many EVs are good, skip, assumed bad, denied; a question mark for each under suspicion.
void tell_paths(std::ostream& out, const engine::PathSet& paths) {
  out << "; usable ports " << std::hex << paths.usable_ports().bits() << std::dec << ", EVs";
  std::array<std::array<int, 5>, kMaxPlanes> count{};
  for (int s = 0; s < paths.size(); ++s) {
    const EvSlot slot(static_cast<std::uint16_t>(s));
    const std::size_t plane = paths.path(slot).port.value - 1u;
    if (plane >= kMaxPlanes) continue;
    ++count[plane][static_cast<std::size_t>(paths.state(slot))];
    count[plane][4] += paths.is_suspect(slot);
  }
  for (const auto& c : count) {
    if (c == std::array<int, 5>{}) continue;
    out << ' ' << c[0] << '/' << c[1] << '/' << c[2] << '/' << c[3];
    if (c[4] > 0) out << '?' << c[4];
  }
}

void tell_requestor(std::ostream& out, const engine::Requestor& r) {
  const auto& c = r.counters();
  out << "; " << r.flight().in_flight() << " packets in flight, " << r.flight().lost() << " lost, of "
      << r.flight().outstanding() << " outstanding; longest delay " << r.longest_delay() / 1us << " us; sent "
      << c.packets << ", repairs " << c.repairs << ", probes " << c.probes << ", suspicions " << c.suspicions
      << ", lost by order " << c.lost_by_order << ", silence " << c.lost_by_silence << ", timeout "
      << c.lost_by_timeout << ", NACKs " << c.nacked << ", retries " << c.retries;
}

/// Jiffies that the hypervisor gave to others, of all that passed since the machine started; and its load.
std::string machine() {
  std::ifstream stat("/proc/stat"), load("/proc/loadavg");
  std::string cpu, one, five;
  stat >> cpu;
  std::uint64_t sum = 0, stolen = 0, value = 0;
  for (int column = 0; column < 8 && stat >> value; ++column) {
    sum += value;
    if (column == 7) stolen = value;
  }
  load >> one >> five;
  return "machine: load " + one + " (" + five + "), stolen " + std::to_string(stolen) + " of " +
         std::to_string(sum) + " ticks";
}

}  // namespace

std::string BulkSide::account() {
  std::ostringstream out;
  const BulkSample& s = take_sample();
  out << s.messages << " messages done, credit " << credit() << "; device ports up " << std::hex << s.ports_up
      << std::dec;
  {
    const lib::NicDevice::Hold hold(*device_);
    nic::Qp& qp = static_cast<lib::NicQp*>(qp_)->nic_qp();
    if (qp.engine) {
      tell_paths(out, qp.engine->paths());
      tell_requestor(out, qp.engine->requestor());
      const auto& r = qp.engine->responder().counters();
      out << "; received " << r.packets << ", duplicates " << r.duplicates;
    }
    if (qp.context != nullptr)
      out << "; window " << qp.context->congestion->window() << ", flight "
          << qp.context->congestion->in_flight();
    out << "; verdicts";
    tell_verdicts(out, device_->nic().verdicts());
    out << "; refused";
    tell_verdicts(out, device_->driver().refused());
  }
  for (std::uint32_t p = 1; p <= s.planes; ++p) {
    const port::Counters c = device_->port_counters(PortId(static_cast<std::uint8_t>(p)));
    out << "; port " << p << " in " << c.rx_packets << " out " << c.tx_packets << " discarded "
        << c.tx_discarded << " overrun " << c.rx_overrun << " stray " << c.rx_stray;
  }
  out << "; " << machine();
  return out.str();
}

}  // namespace mrc::tools
