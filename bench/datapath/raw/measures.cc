#include "measures.h"

#include <sched.h>

#include <algorithm>

#include "link.h"
#include "pair.h"

namespace mrc::bench {
namespace {

LinkPlan stream_link(const StreamPlan& plan, bool left) {
  return {.left = left,
          .v6 = plan.v6,
          .train = plan.train,
          .packet_bytes = plan.packet_bytes,
          .paths = plan.paths};
}

bool send_stream(Meeting& meeting, const StreamPlan& plan) {
  auto link = open_link(plan.via, stream_link(plan, true));
  if (link == nullptr) return false;
  await(meeting.receiver_ready);
  std::uint64_t sent = 0;
  const std::uint64_t start = cpu_ns();
  while (meeting.stop.load(std::memory_order_relaxed) == 0) sent += link->send_batch();
  meeting.packets_sent = sent;
  meeting.sender_cpu_ns = cpu_ns() - start;
  return true;
}

/// Measures from the first packet on, so that the sender's start doesn't count.
bool receive_stream(Meeting& meeting, const StreamPlan& plan) {
  auto link = open_link(plan.via, stream_link(plan, false));
  if (link == nullptr) return false;
  meeting.receiver_ready.store(1);
  std::uint64_t packets = 0, bytes = 0;
  while (packets == 0 && meeting.stop.load() == 0) packets = link->receive(bytes);
  const std::uint64_t start = now_ns();
  const std::uint64_t end = start + static_cast<std::uint64_t>(plan.seconds * 1e9);
  packets = bytes = 0;
  std::uint64_t now = start;
  while (now < end) {
    for (int i = 0; i < 16; ++i) packets += link->receive(bytes);
    now = now_ns();
  }
  meeting.packets = packets;
  meeting.bytes = bytes;
  meeting.nanoseconds = now - start;
  meeting.stop.store(1);
  return packets > 0;
}

LinkPlan ping_link(const PingPlan& plan, bool left) {
  return {.left = left, .v6 = plan.v6, .packet_bytes = plan.bytes, .blocking = plan.blocking};
}

bool ping(Meeting& meeting, const PingPlan& plan) {
  auto link = open_link(plan.via, ping_link(plan, true));
  if (link == nullptr) return false;
  await(meeting.receiver_ready);
  const std::uint64_t end = now_ns() + static_cast<std::uint64_t>(plan.seconds * 1e9);
  std::uint64_t bytes = 0, now = now_ns();
  const unsigned rounds = std::min<unsigned>(plan.rounds, kMaxSamples);
  for (unsigned i = 0; i < rounds && now < end; ++i) {
    if (!link->send_one()) return false;
    while (link->receive(bytes) == 0)
      if (meeting.stop.load() != 0) return false;
    const std::uint64_t back = now_ns();
    meeting.half_rtt_ns[meeting.samples++] = static_cast<std::uint32_t>((back - now) / 2);
    now = back;
  }
  meeting.stop.store(1);
  return meeting.samples > 0 &&
         link->send_one();  // one more, so that a blocked answerer wakes up and sees the end
}

bool answer(Meeting& meeting, const PingPlan& plan) {
  auto link = open_link(plan.via, ping_link(plan, false));
  if (link == nullptr) return false;
  meeting.receiver_ready.store(1);
  std::uint64_t bytes = 0;
  while (meeting.stop.load(std::memory_order_relaxed) == 0)
    if (link->receive(bytes) != 0 && !link->send_one()) return false;
  return true;
}

double percentile_us(Meeting& meeting, double p) {
  auto* begin = meeting.half_rtt_ns;
  const auto at = static_cast<std::uint32_t>(p * (meeting.samples - 1));
  std::nth_element(begin, begin + at, begin + meeting.samples);
  return begin[at] / 1e3;
}

}  // namespace

std::optional<StreamResult> measure_stream(const Sandbox& sandbox, const StreamPlan& plan) {
  SharedMeeting meeting;
  if (!run_pair(
          sandbox, *meeting, plan.seconds + 5, [&](Meeting& m) { return send_stream(m, plan); },
          [&](Meeting& m) { return receive_stream(m, plan); }))
    return std::nullopt;
  const double seconds = static_cast<double>(meeting->nanoseconds) / 1e9;
  const auto received = static_cast<double>(meeting->packets);
  const auto sent = std::max(static_cast<double>(meeting->packets_sent), received);
  return StreamResult{
      .gbps = static_cast<double>(meeting->bytes) * 8 / seconds / 1e9,
      .mpps = received / seconds / 1e6,
      .sender_ns_per_packet = static_cast<double>(meeting->sender_cpu_ns) / std::max(sent, 1.0),
      .lost = sent > 0 ? (sent - received) / sent : 0};
}

std::optional<PingResult> measure_ping(const Sandbox& sandbox, const PingPlan& plan) {
  SharedMeeting meeting;
  if (!run_pair(
          sandbox, *meeting, plan.seconds + 5, [&](Meeting& m) { return ping(m, plan); },
          [&](Meeting& m) { return answer(m, plan); }))
    return std::nullopt;
  return PingResult{percentile_us(*meeting, 0.5), percentile_us(*meeting, 0.99)};
}

std::optional<double> measure_cost_ns(const Sandbox& sandbox, const CostPlan& plan) {
  LinkPlan link{.v6 = plan.v6, .train = plan.train, .packet_bytes = plan.packet_bytes};
  std::unique_ptr<Link> sender, receiver;
  sandbox.left([&] { sender = open_link(plan.via, link); });
  link.left = false;
  sandbox.right([&] { receiver = open_link(plan.via, link); });
  if (sender == nullptr || receiver == nullptr) return std::nullopt;
  std::uint64_t packets = 0, bytes = 0, cost = 0;
  sandbox.left([&] {
    const std::uint64_t limit = static_cast<std::uint64_t>(plan.seconds * 1e9);
    const std::uint64_t start = cpu_ns();
    for (std::uint64_t spent = 0; spent < limit; spent = cost) {
      for (int i = 0; i < 64; ++i) {
        if (!sender->send_one()) return;
        for (unsigned got = 0; got < plan.train;) got += receiver->receive(bytes);
        packets += plan.train;
      }
      cost = cpu_ns() - start;
    }
  });
  if (packets == 0) return std::nullopt;
  return static_cast<double>(cost) / static_cast<double>(packets);
}

}  // namespace mrc::bench
