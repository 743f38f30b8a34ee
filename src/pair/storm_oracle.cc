#include "pair/storm_oracle.h"

#include <algorithm>

namespace mrc::pair {

using engine::CompletionKind;
using engine::WorkStatus;

void StormOracle::watch(Pair& pair) {
  pair_ = &pair;
  free_slabs_ = pair.side(0).pool.free_slabs();
  bytes_ = pair.side(0).qp.bytes();
  pair.network().filter = [this](Time now, int from, const engine::Transmit& t) {
    on_send(*pair_, now, from, t);
    return true;
  };
}

void StormOracle::on_send(Pair& pair, Time now, int from, const engine::Transmit& t) {
  digest(static_cast<std::uint64_t>(now.time_since_epoch().count()) << 24 | t.packet.psn.value());
  digest(static_cast<std::uint64_t>(t.packet.opcode()) << 32 | t.slot.value);
  if (!std::holds_alternative<wire::Write>(t.packet.body)) return;
  ++data_sent_[from];
  ++per_port_[from][t.envelope.port.value];
  if (pair.side(from).qp.paths().state(t.slot) == engine::EvState::denied) broke("data left on a DENIED EV");
  const auto& window = pair.side(1 - from).qp.responder().window();
  if (t.packet.psn - window.cack() > window.span()) broke("a packet left beyond the receive window");
}

void StormOracle::on_event(const engine::Event& e) {
  digest(e.body.index() << 48 | static_cast<std::uint64_t>(e.when.time_since_epoch().count()));
}

void StormOracle::note_post(int from, std::uint64_t wr_id, std::uint32_t offset, std::uint32_t length,
                            std::optional<std::uint32_t> imm) {
  works_[from].push_back({wr_id, offset, length, imm});
}

bool StormOracle::all_done() const {
  for (int i = 0; i < 2; ++i) {
    std::size_t sent = 0, received = 0, expected = 0;
    for (const auto& c : pair_->side(i).completions) (c.kind == CompletionKind::send ? sent : received)++;
    for (const auto& w : works_[1 - i]) expected += w.imm.has_value();
    if (sent < works_[i].size()) return false;
    if (!world_.may_fail && received < expected) return false;
  }
  return true;
}

StormOutcome StormOracle::verdict(Pair& pair) {
  for (int i = 0; i < 2; ++i) {
    check_completions(pair, i);
    check_receives(pair, i);
    check_bytes(pair, i);
  }
  check_packets(pair);
  check_memory(pair);
  check_balance();
  StormOutcome out{.broken = broken_, .trace = trace_};
  for (int i = 0; i < 2; ++i) {
    const auto& c = pair.side(i).qp.requestor().counters();
    out.packets += c.packets;
    out.repairs += c.repairs;
    out.retries += c.retries;
    out.works += works_[i].size();
    for (const auto& done : pair.side(i).completions) out.failures += done.status != WorkStatus::success;
  }
  return out;
}

void StormOracle::check_completions(Pair& pair, int side) {
  std::size_t n = 0;
  bool failed = false;
  for (const auto& c : pair.side(side).completions) {
    if (c.kind != CompletionKind::send) continue;
    if (n >= works_[side].size()) return broke("more send completions than work");
    if (c.wr_id != works_[side][n].wr_id) return broke("send completions out of order");
    if (c.status == WorkStatus::success && failed) return broke("a success after a failure");
    failed = failed || c.status != WorkStatus::success;
    ++n;
  }
  if (failed && !world_.may_fail) broke("a work failed although retries are unlimited");
  if (n != works_[side].size()) broke("work without a completion, long after everything healed");
}

void StormOracle::check_receives(Pair& pair, int side) {
  std::vector<std::uint32_t> expected;
  for (const auto& w : works_[1 - side]) {
    if (w.imm) expected.push_back(*w.imm);
  }
  std::size_t n = 0, posted = 0;
  for (const auto& c : pair.side(side).completions) {
    if (c.kind != CompletionKind::receive) continue;
    if (posted >= receives_[side].size() || c.wr_id != receives_[side][posted++])
      return broke("receives out of order");
    if (c.status != WorkStatus::success) continue;
    if (n >= expected.size() || c.imm != expected[n++])
      return broke("immediates out of order, doubled or invented");
  }
  if (n != expected.size() && !world_.may_fail) broke("an immediate never arrived");
}

void StormOracle::check_bytes(Pair& pair, int side) {
  const auto& writes = pair.side(side).memory.writes();
  std::vector<std::uint8_t> expected(writes.size(), 0);
  std::size_t n = 0;
  const auto& completions = pair.side(1 - side).completions;
  for (const auto& w : works_[1 - side]) {
    while (n < completions.size() && completions[n].kind != CompletionKind::send) ++n;
    const bool success = n < completions.size() && completions[n].status == WorkStatus::success;
    if (n < completions.size()) ++n;
    // What failed may have been written in part; what succeeded was written whole.
    std::fill_n(expected.begin() + w.offset, w.length, success ? 1 : 2);
  }
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (expected[i] == 2 ? writes[i] > 1 : writes[i] != expected[i]) {
      return broke("byte " + std::to_string(i) + " of side " + std::to_string(side) + " was written " +
                   std::to_string(writes[i]) + " times");
    }
  }
}

void StormOracle::check_packets(Pair& pair) {
  const auto& n = pair.network().counters();
  if (n.sent + n.duplicated != n.delivered + n.lost + n.corrupted + pair.network().in_flight())
    broke("the network invented a packet");
  for (int i = 0; i < 2; ++i) {
    const auto& r = pair.side(i).qp.responder().counters();
    if (r.packets != pair.side(i).placed_packets)
      broke("a packet was counted and not placed, or the other way round");
    if (pair.side(i).qp.requestor().counters().packets > data_sent_[i])
      broke("a packet was counted and not sent");
  }
}

void StormOracle::check_memory(Pair& pair) {
  if (pair.side(0).qp.bytes() != bytes_) broke("a QP grew");
  if (broken_.empty() && !world_.may_fail && pair.side(0).pool.free_slabs() != free_slabs_)
    broke("records of settled packets were kept");
}

void StormOracle::check_balance() {
  if (!world_.balanced || world_.config.ports < 2) return;
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (int p = 1; p <= world_.config.ports; ++p) {
    low = std::min(low, per_port_[0][p]);
    high = std::max(high, per_port_[0][p]);
  }
  if (high - low > 32 + high / 5)
    broke("planes loaded unevenly: " + std::to_string(low) + " to " + std::to_string(high) + " packets");
}

}  // namespace mrc::pair
