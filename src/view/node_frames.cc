#include "view/node_frames.h"

#include <algorithm>

namespace mrc::view {
namespace {

std::string name_of(std::uint32_t host, const Frame& f) {
  const auto named =
      std::find_if(f.names.begin(), f.names.end(), [&](const HostName& n) { return n.host == host; });
  return named == f.names.end() ? "h" + std::to_string(host) : named->name;
}

}  // namespace

double NodeFrames::rate(Before& b, std::uint64_t bytes, std::uint64_t taken_ns) const {
  if (taken_ns <= b.taken_ns) return b.rate;  // it has not answered since
  const bool known = b.taken_ns != 0 && bytes >= b.bytes;
  b.rate =
      known ? static_cast<double>(bytes - b.bytes) * 8e9 / static_cast<double>(taken_ns - b.taken_ns) : 0;
  b.bytes = bytes;
  b.taken_ns = taken_ns;
  return b.rate;
}

// Congestion takes a path away for a moment all the time: what is worth a line is the first that is bad, and
// that none is any more.
void NodeFrames::tell_paths(Before& b, const QpFrame& qp, Frame& f) const {
  const std::uint16_t bad = qp.facts.evs_in_state[static_cast<std::size_t>(node::EvFactState::assumed_bad)];
  if ((bad == 0) != (b.bad == 0)) {
    const std::string who = name_of(qp.host, f) + " to " + name_of(qp.peer, f);
    const std::string now =
        bad == 0 ? "all EVs usable again"
                 : std::to_string(bad) + " of " + std::to_string(qp.facts.evs.size()) + " EVs assumed bad";
    f.happenings.push_back({f.time_ns, "path", who + ": " + now, {}});
  }
  b.bad = bad;
}

void NodeFrames::take(node::Snapshot snapshot, std::uint32_t host, const HostAt& host_at, const EvAt& ev_at,
                      Frame& f) {
  ++round_;
  for (node::ProcessFacts& process : snapshot.processes) {
    for (node::QpFacts& facts : process.qps) {
      const auto peer = host_at(facts.peer);
      if (!peer) continue;
      Before& before = qps_[{process.pid, facts.qpn.value}];
      before.round = round_;
      f.totals.packets += facts.tx_packets;
      f.totals.repairs += facts.repairs;
      f.totals.lost += facts.lost_by_order + facts.lost_by_silence + facts.lost_by_timeout;
      if (f.qps.size() == kMostQps) {
        ++f.more_qps;
        continue;
      }
      for (node::EvFacts& ev : facts.evs) ev.ev = ev_at(process, ev).value_or(ev.ev);
      const double rate_now = rate(before, facts.tx_bytes, process.taken_ns);
      tell_paths(before, f.qps.emplace_back(QpFrame{host, *peer, rate_now, std::move(facts)}), f);
    }
  }
  std::erase_if(qps_, [&](const auto& qp) { return qp.second.round != round_; });
}

}  // namespace mrc::view
