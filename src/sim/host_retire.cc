// QPs of pairs that have nothing to say to each other any more: both ends forget them, together.
#include "sim/host_node.h"
#include "sim/world.h"

namespace mrc::sim {
namespace {

enum Word : std::uint64_t { kAsk = 1, kAgree = 2, kRefuse = 3 };

std::uint64_t word(Word what, std::uint16_t generation) { return std::uint64_t{generation} << 8 | what; }

QpCount count_of(const nic::Qp& qp) {
  if (!qp.engine) return {};
  const engine::RequestorCounters& c = qp.engine->requestor().counters();
  const auto narrow = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  return {narrow(c.packets), narrow(c.lost_by_order + c.lost_by_silence + c.lost_by_timeout),
          narrow(c.repairs), c.repeats};
}

}  // namespace

std::vector<QpCount> HostNode::qp_counts() {
  std::vector<QpCount> out = retired_;
  nic_.for_each_qp([&](const nic::Qp& qp) { out.push_back(count_of(qp)); });
  return out;
}

void HostNode::note_use(std::uint32_t connection) {
  Connection& c = connections_[connection];
  c.used_at = now_;
  if (c.resting || plan_.settings.retire_after == 0) return;
  c.resting = true;
  resting_.push_back({now_ + plan_.settings.retire_after, connection});
}

void HostNode::retire_idle() {
  while (!resting_.empty() && resting_.front().until <= now_) {
    const std::uint32_t connection = resting_.front().connection;
    resting_.pop_front();
    Connection& c = connections_[connection];
    c.resting = false;
    if (!c.alive || c.asking || !idle(c)) continue;  // its next completion brings it back
    if (c.used_at + plan_.settings.retire_after > now_) {
      c.resting = true;
      resting_.push_back({now_ + plan_.settings.retire_after, connection});
      continue;
    }
    c.asking = true;
    signal_transport(c.peer, word(kAsk, c.generation));
  }
}

// Two ends that ask each other agree already. Nobody sends between asking and the answer, and an answer
// outruns any packet that follows it, so no packet meets the wrong generation but one that is long overdue.
void HostNode::hear_transport(Host from, std::uint64_t w) {
  Connection& c = connection_to(from);
  const auto connection = static_cast<std::uint32_t>(&c - connections_.data());
  const auto what = static_cast<Word>(w & 0xFF);
  if (w >> 8 != c.generation) {
    if (what == kAsk) signal_transport(from, word(kRefuse, static_cast<std::uint16_t>(w >> 8)));
    return;
  }
  const bool asked = c.asking;
  c.asking = false;
  if (what == kAsk && !asked) {
    const bool agrees = idle(c);
    signal_transport(from, word(agrees ? kAgree : kRefuse, c.generation));
    if (agrees) retire(c);
    return;
  }
  what == kRefuse ? note_use(connection) : retire(c);
  for (std::uint32_t place = 0; place < c.qps.size(); ++place) {
    if (!connections_[connection].qps[place].backlog.empty()) post(connection, place);
  }
}

void HostNode::retire(Connection& c) {
  ++c.generation;
  if (!c.alive) return;
  c.alive = false;
  for (PairQp& pair : c.qps) {
    retired_.push_back(count_of(*pair.qp));
    nic_.destroy_qp(engine_time(now_), *pair.qp);
    pair.qp = nullptr;
  }
}

}  // namespace mrc::sim
