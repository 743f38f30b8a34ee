#include "pair/pair.h"

#include "engine/sizes.h"
#include "pair/fixed_window.h"

namespace mrc::pair {

std::vector<engine::Path> make_paths(int ports, int evs_per_port) {
  std::vector<engine::Path> paths;
  for (int i = 0; i < ports * evs_per_port; ++i) {
    paths.push_back(
        {Ev(static_cast<std::uint32_t>(i + 1)), PortId(static_cast<std::uint8_t>(i % ports + 1))});
  }
  return paths;
}

Pair::Pair(const PairConfig& config, engine::EventSink* sink)
    : config_(config),
      paths_(make_paths(config.ports, config.evs_per_port)),
      network_(paths_, config.bytes_per_us, config.seed * 2 + 1) {
  network_.for_each_lane([&](Lane& l) { l.delay = config.delay; });
  const double bdp = config.bytes_per_us * config.ports * static_cast<double>(base_rtt().count()) / 1000;
  for (int i = 0; i < 2; ++i) {
    engine::QpConfig qp{.local = Qpn(static_cast<std::uint32_t>(0x100 + i)),
                        .remote = Qpn(static_cast<std::uint32_t>(0x101 - i)),
                        .send_psn = config.psn[i],
                        .receive_psn = config.psn[1 - i],
                        .limits = config.limits,
                        .requestor = config.requestor,
                        .responder = config.responder,
                        .paths = config.paths,
                        .path_table = paths_,
                        .seed = config.seed * 4 + static_cast<std::uint64_t>(i)};
    auto cc = config.congestion
                  ? config.congestion()
                  : std::make_unique<FixedWindow>(std::max<std::uint64_t>(
                        static_cast<std::uint64_t>(1.5 * bdp), engine::cc_bytes_max(config.limits.path_mtu)));
    ends_[i] =
        std::make_unique<Endpoint>(qp, std::move(cc), config.records, config.memory, i == 0 ? sink : nullptr);
    for (auto s : {engine::QpState::init, engine::QpState::rtr, engine::QpState::rts})
      ends_[i]->qp.modify(now_, s);
    up_[i] = PortMask::first(config.ports);
  }
}

engine::QueuePair::Posted Pair::write(int from, std::uint64_t wr_id, std::uint32_t offset,
                                      std::uint32_t length, std::optional<std::uint32_t> imm) {
  return side(from).qp.post_send(now_, {.wr_id = wr_id,
                                        .remote_va = CountingMemory::kBase + offset,
                                        .rkey = side(1 - from).memory.key(),
                                        .length = length,
                                        .imm = imm.value_or(0),
                                        .has_imm = imm.has_value()});
}

Time Pair::next_event() {
  Time next = network_.next_arrival();
  for (int i = 0; i < 2; ++i) {
    next = std::min(next, std::max(asleep_until_[i], std::min(side(i).qp.next_timeout(), wake_[i])));
  }
  return std::max(now_, next);
}

void Pair::step() {
  now_ = next_event();
  if (network_.next_arrival() <= now_) {
    const Arrival a = network_.pop();
    if (asleep_until_[a.side] > now_)
      network_.postpone(a, asleep_until_[a.side]);
    else
      arrive(a);
    return;
  }
  for (int i = 0; i < 2; ++i) {
    if (asleep_until_[i] > now_) continue;
    if (side(i).qp.next_timeout() <= now_) side(i).qp.handle_timeout(now_);
    if (wake_[i] <= now_) wake_[i] = kNever;
    drain(i);
  }
}

void Pair::pause(int i, Duration d) {
  asleep_until_[i] = now_ + d;
  wake_[i] = asleep_until_[i];
}

void Pair::arrive(const Arrival& a) {
  Endpoint& end = side(a.side);
  const Verdict verdict = end.qp.handle_packet(now_, a.packet, a.envelope, end.memory);
  ++end.verdicts[static_cast<std::size_t>(verdict)];
  if (const auto* w = std::get_if<wire::Write>(&a.packet.body); w != nullptr && verdict == Verdict::ok) {
    end.memory.place(w->va, w->payload);
    end.placed_bytes += w->payload;
    ++end.placed_packets;
  }
  drain(a.side);
}

void Pair::drain(int i) {
  if (asleep_until_[i] > now_) return;
  Endpoint& end = side(i);
  engine::Transmit t;
  for (PortMask room = network_.room(i, now_); !room.empty(); room = network_.room(i, now_)) {
    if (!end.qp.poll_transmit(now_, room, t)) break;
    network_.send(now_, i, t);
  }
  wake_[i] = network_.next_room(i, now_);
  engine::Completion c;
  while (end.qp.poll_completion(now_, c)) end.completions.push_back(c);
}

bool Pair::run_until(const std::function<bool()>& done, Duration limit) {
  const Time deadline = now_ + limit;
  kick();
  while (!done()) {
    if (next_event() > deadline) {
      now_ = deadline;  // time passes even where nothing happens
      return false;
    }
    step();
  }
  return true;
}

void Pair::kick() {
  drain(0);
  drain(1);
}

void Pair::set_port(int i, PortId port, bool up, bool tell_peer) {
  network_.set_port(i, port, up);
  side(i).qp.handle_port(now_, port, up);
  up ? up_[i].add(port) : up_[i].remove(port);
  if (tell_peer) side(1 - i).qp.handle_peer_ports(now_, up_[i]);
}

}  // namespace mrc::pair
