#include "node/qp_facts.h"

namespace mrc::node {
namespace {

static_assert(static_cast<int>(engine::EvState::good) == static_cast<int>(EvFactState::good));
static_assert(static_cast<int>(engine::EvState::skip) == static_cast<int>(EvFactState::skip));
static_assert(static_cast<int>(engine::EvState::assumed_bad) == static_cast<int>(EvFactState::assumed_bad));
static_assert(static_cast<int>(engine::EvState::denied) == static_cast<int>(EvFactState::denied));
static_assert(static_cast<int>(engine::QpState::error) == static_cast<int>(QpFactState::error));

void fill_requestor(const nic::Qp& qp, QpFacts& out) {
  const engine::Requestor& requestor = qp.engine->requestor();
  const engine::RequestorCounters& c = requestor.counters();
  out.tx_packets = c.packets;
  out.tx_bytes = c.bytes;
  out.repairs = c.repairs;
  out.repeats = c.repeats;
  out.probes = c.probes;
  out.lost_by_order = c.lost_by_order;
  out.lost_by_silence = c.lost_by_silence;
  out.lost_by_timeout = c.lost_by_timeout;
  out.nacked = c.nacked;
  out.retries = c.retries;
  out.rtt_ns = static_cast<std::uint64_t>(requestor.rtt().count());
  out.unacked = static_cast<std::uint32_t>(requestor.flight().in_flight());
  out.posted = static_cast<std::uint32_t>(requestor.queue().outstanding());
  if (qp.context == nullptr) return;
  out.window = qp.context->congestion->window();
  out.in_flight = qp.context->congestion->in_flight();
}

void fill_responder(nic::Qp& qp, QpFacts& out) {
  const engine::ResponderCounters& c = qp.engine->responder().counters();
  out.rx_packets = c.packets;
  out.rx_bytes = c.bytes;
  out.duplicates = c.duplicates;
  out.trims = c.trims;
  out.marks = c.marks;
  out.sacks = c.sacks;
  out.nacks = c.nacks;
}

void fill_paths(const nic::Qp& qp, bool with_evs, QpFacts& out) {
  const engine::PathSet& paths = qp.engine->paths();
  for (int i = 0; i < paths.size(); ++i) {
    const EvSlot slot(static_cast<std::uint16_t>(i));
    const auto state = static_cast<std::uint32_t>(paths.state(slot));
    ++out.evs_in_state[state];
    if (!with_evs) continue;
    out.evs.push_back({paths.path(slot).ev, paths.path(slot).port, static_cast<EvFactState>(state)});
  }
}

}  // namespace

QpFacts facts_of(nic::Qp& qp, bool with_evs) {
  QpFacts out;
  out.qpn = qp.qpn;
  out.state = static_cast<QpFactState>(qp.state);
  out.service_level = qp.service_level;
  if (!qp.engine) return out;
  out.remote_qpn = qp.engine->requestor().remote();
  fill_requestor(qp, out);
  fill_responder(qp, out);
  fill_paths(qp, with_evs, out);
  return out;
}

}  // namespace mrc::node
