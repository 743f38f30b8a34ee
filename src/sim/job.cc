#include "sim/job.h"

#include <algorithm>

#include "base/check.h"
#include "base/prng.h"

namespace mrc::sim {
namespace {

constexpr std::uint32_t parent_of(std::uint32_t i) { return (i - 1) / 2; }
std::uint32_t children(const Group& g, std::uint32_t i) {
  return (2 * i + 1 < g.size) + (2 * i + 2 < g.size);
}

}  // namespace

Job::Job(std::uint32_t number, std::unique_ptr<Program> program, Placement placement, std::uint32_t hosts)
    : number_(number),
      program_(std::move(program)),
      placement_(std::move(placement)),
      rank_of_(hosts, kNobody),
      ranks_(program_->ranks()) {
  MRC_CHECK(number < 16 && placement_.host_of.size() == ranks_.size());
  for (Rank r = 0; r < ranks_.size(); ++r) rank_of_[placement_.host_of[r]] = r;
}

void Job::start(Host host, Actions& actions) {
  const Rank rank = rank_of_[host];
  if (placement_.start > 0) {
    actions.wait(placement_.start, token(ranks_[rank]));
  } else {
    begin(rank, actions);
  }
}

void Job::begin(Rank rank, Actions& actions) {
  if (load_step(rank)) return advance(rank, actions);
  ranks_[rank].ended = actions.now();
}

bool Job::load_step(Rank rank) {
  RankState& s = ranks_[rank];
  s.step = {};
  s.running = program_->step(rank, s.number++, s.step);
  s.sent = s.acked = s.received = s.up = s.down = s.from_child[0] = s.from_child[1] = 0;
  s.flows_before = s.flows;
  std::erase_if(s.early, [&](const Early& e) {
    if (!s.running || e.match != s.step.match) return false;
    note_arrival(rank, e.from);
    return true;
  });
  return s.running;
}

void Job::note_arrival(Rank rank, Rank from) {
  RankState& s = ranks_[rank];
  ++s.received;
  if (s.step.kind != StepKind::tree_allreduce) return;
  const std::uint32_t i = s.step.group.index(rank);
  const std::uint32_t f = s.step.group.index(from);
  if (f > i) ++s.from_child[(f + 1) % 2];
}

void Job::on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) {
  const Rank rank = rank_of_[host];
  const std::uint32_t match = tag & ((1u << kMatchBits) - 1);
  RankState& s = ranks_[rank];
  const bool wanted =
      s.running && s.step.match == match && s.step.kind != StepKind::compute && s.step.kind != StepKind::send;
  if (!wanted) {
    s.early.push_back({match, rank_of_[peer]});
    return;
  }
  note_arrival(rank, rank_of_[peer]);
  advance(rank, actions);
}

void Job::on_sent(Host host, const Message& message, Actions& actions) {
  const Rank rank = rank_of_[host];
  RankState& s = ranks_[rank];
  if (!s.running || message.flow < s.flows_before) return;
  ++s.acked;
  advance(rank, actions);
}

void Job::on_timer(Host host, std::uint64_t, Actions& actions) {
  const Rank rank = rank_of_[host];
  if (!ranks_[rank].running) return begin(rank, actions);
  ++ranks_[rank].acked;
  advance(rank, actions);
}

void Job::advance(Rank rank, Actions& actions) {
  for (;;) {
    act(rank, actions);
    if (!complete(rank)) return;
    if (load_step(rank)) continue;
    ranks_[rank].ended = actions.now();
    return;
  }
}

void Job::act(Rank rank, Actions& actions) {
  RankState& s = ranks_[rank];
  const Step& step = s.step;
  switch (step.kind) {
    case StepKind::compute:
      if (s.sent++ == 0) {
        const double factor =
            placement_.slowdown.empty() ? 1.0 : static_cast<double>(placement_.slowdown[rank]);
        actions.wait(static_cast<Ps>(static_cast<double>(step.time) * factor), token(s));
      }
      return;
    case StepKind::send:
    case StepKind::exchange:
      if (s.sent == 0 && step.peer != kNobody) send(rank, step.peer, step.bytes, actions);
      return;
    case StepKind::receive: return;
    case StepKind::ring_rounds:
      while (s.sent < step.rounds && s.received >= s.sent) {
        const Group& g = step.group;
        send(rank, g.member((g.index(rank) + 1) % g.size), step.bytes, actions);
      }
      return;
    case StepKind::all_to_all: return send_to_all(rank, actions);
    case StepKind::tree_allreduce: return send_in_tree(rank, actions);
  }
}

bool Job::complete(Rank rank) const {
  const RankState& s = ranks_[rank];
  const Step& step = s.step;
  switch (step.kind) {
    case StepKind::compute: return s.acked > 0;
    case StepKind::send: return true;
    case StepKind::receive: return s.received >= step.rounds;
    case StepKind::exchange:
      return (step.peer == kNobody || s.acked > 0) && (step.other == kNobody || s.received > 0);
    case StepKind::ring_rounds: return s.acked >= step.rounds && s.received >= step.rounds;
    case StepKind::all_to_all: return s.acked + 1 >= step.group.size && s.received + 1 >= step.group.size;
    case StepKind::tree_allreduce: {
      const std::uint32_t i = step.group.index(rank);
      const std::uint32_t to_come = (children(step.group, i) + (i > 0)) * step.rounds;
      return s.received >= to_come && s.acked >= to_come;  // as much goes out as comes in
    }
  }
  return true;
}

void Job::send(Rank rank, Rank to, std::uint64_t bytes, Actions& actions) {
  RankState& s = ranks_[rank];
  ++s.sent;
  const std::uint32_t tag = number_ << kMatchBits | (s.step.match & ((1u << kMatchBits) - 1));
  actions.send({placement_.host_of[to], std::max<std::uint64_t>(bytes, 1), tag, s.flows++});
}

void Job::send_to_all(Rank rank, Actions& actions) {
  RankState& s = ranks_[rank];
  const Group& g = s.step.group;
  // Each begins with its own neighbour, so that not all send to the same one at once.
  while (s.sent + 1 < g.size && s.sent - s.acked < s.step.rounds) {
    const Rank to = g.member((g.index(rank) + 1 + s.sent) % g.size);
    send(rank, to, share(s.step, to), actions);
  }
}

void Job::send_in_tree(Rank rank, Actions& actions) {
  RankState& s = ranks_[rank];
  const Group& g = s.step.group;
  const std::uint32_t i = g.index(rank);
  const std::uint32_t kids = children(g, i);
  std::uint32_t gathered = s.step.rounds;
  for (std::uint32_t c = 0; c < kids; ++c) gathered = std::min(gathered, s.from_child[c]);
  for (; i > 0 && s.up < gathered; ++s.up) send(rank, g.member(parent_of(i)), s.step.bytes, actions);
  const std::uint32_t from_parent = s.received - s.from_child[0] - s.from_child[1];
  for (const std::uint32_t known = i == 0 ? gathered : from_parent; s.down < known; ++s.down) {
    for (std::uint32_t c = 0; c < kids; ++c) send(rank, g.member(2 * i + 1 + c), s.step.bytes, actions);
  }
}

std::uint64_t Job::share(const Step& step, Rank to) const {
  if (step.skew == 0) return step.bytes;
  Prng prng(step.skew_seed * 0x9e3779b97f4a7c15 + to);
  const double factor = 1.0 + static_cast<double>(step.skew) / 100.0 * (2.0 * prng.unit() - 1.0);
  return static_cast<std::uint64_t>(static_cast<double>(step.bytes) * std::max(factor, 0.0));
}

std::string Job::unfinished() const {
  const auto stuck =
      std::find_if(ranks_.begin(), ranks_.end(), [](const RankState& s) { return s.ended == kNeverPs; });
  if (stuck == ranks_.end()) return "";
  const auto left =
      std::count_if(stuck, ranks_.end(), [](const RankState& s) { return s.ended == kNeverPs; });
  return std::to_string(left) + " of " + std::to_string(ranks_.size()) +
         " ranks did not finish, the first is rank " + std::to_string(stuck - ranks_.begin()) +
         (stuck->number == 0 ? ", which had not started" : ", in its step " + std::to_string(stuck->number));
}

std::vector<std::uint64_t> Job::standing(Host host) const {
  const RankState& s = ranks_[rank_of_[host]];
  return {s.number, static_cast<std::uint64_t>(s.ended)};
}

void Job::adopt(Host host, std::span<const std::uint64_t> standing) {
  RankState& s = ranks_[rank_of_[host]];
  s.number = standing[0];
  s.ended = static_cast<Ps>(standing[1]);
}

}  // namespace mrc::sim
