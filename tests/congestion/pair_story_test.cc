// Stories of NSCC inside a whole QP: marks, losses, samples and the receiver's word, as they arrive in
// packets.
#include <gtest/gtest.h>

#include "engine/nscc.h"
#include "pair/pair.h"

namespace mrc::testing {
namespace {

using pair::Lane;
using pair::Pair;
using pair::PairConfig;

constexpr std::uint32_t kMessage = 1 << 20;

engine::LinkFacts link_of(const PairConfig& c) {
  return {.bits_per_second = static_cast<std::uint64_t>(c.bytes_per_us * c.ports * 8e6),
          .base_rtt = 2 * c.delay + 2us};
}

PairConfig with_nscc(PairConfig c = {}) {
  c.ports = 2;
  c.evs_per_port = 32;
  const engine::LinkFacts link = link_of(c);
  c.congestion = [link] { return std::make_unique<engine::Nscc>(engine::default_nscc(link)); };
  return c;
}

/// Posts messages without end, until `limit`; returns the bytes placed.
std::uint64_t stream(Pair& p, Duration limit) {
  const Time end = p.now() + limit;
  std::uint64_t id = 0;
  while (p.now() < end) {
    while (p.write(0, id, 0, kMessage).error == 0) ++id;
    const std::size_t done = p.side(0).completions.size();
    p.run_until([&] { return p.side(0).completions.size() > done; }, end - p.now());
  }
  return p.side(1).placed_bytes;
}

TEST(PairStory, OnePercentLossCostsNsccLittle) {
  Pair clean(with_nscc()), lossy(with_nscc());
  lossy.network().for_each_lane([](Lane& l) { l.loss = 0.01; });
  const auto full = stream(clean, 3ms), rest = stream(lossy, 3ms);
  EXPECT_GT(static_cast<double>(rest), 0.93 * static_cast<double>(full));
}

TEST(PairStory, MarksWithoutDelayLeaveTheWindow) {  // MRC-CC-006
  Pair p(with_nscc());
  stream(p, 100us);
  p.network().for_each_lane([](Lane& l) { l.mark = 0.2; });
  const auto before = p.side(0).congestion->window();
  stream(p, 500us);
  EXPECT_GE(p.side(0).congestion->window() * 10, before * 9);
}

TEST(PairStory, TheReceiverSlowsItsSendersAndReleasesThem) {  // MRC-CC-016 MRC-CC-017
  Pair p(with_nscc());
  stream(p, 100us);
  const auto before = p.side(0).congestion->window();
  p.side(1).qp.responder().set_penalty(64);
  stream(p, 60us);
  EXPECT_LT(p.side(0).congestion->window(), before / 4);
  p.side(1).qp.responder().restore_senders();
  stream(p, 30us);
  EXPECT_GE(p.side(0).congestion->window() * 10, before * 9);
}

/// Keeps what the requestor says, and lets everything pass.
class Listener final : public engine::Congestion {
 public:
  explicit Listener(std::vector<Feedback>& heard) : heard_(heard) {}
  void on_send(Time, std::uint32_t) override {}
  void on_sack(Time, const Feedback& f) override { heard_.push_back(f); }
  void on_trim(Time, std::uint32_t, bool) override {}
  void on_loss(Time, std::uint32_t) override {}
  void on_settled(Time, std::int64_t) override {}
  bool may_send(std::uint32_t) const override { return true; }
  std::uint64_t window() const override { return 1 << 30; }
  std::int64_t in_flight() const override { return 0; }

 private:
  std::vector<Feedback>& heard_;
};

/// One packet, whose first transmission is lost: what the answer to its repair brings as a sample.
std::optional<Duration> sample_of_repair(bool timestamps) {
  std::vector<engine::Congestion::Feedback> heard;
  PairConfig c;
  c.requestor.timestamps = timestamps;
  c.congestion = [&heard] { return std::make_unique<Listener>(heard); };
  Pair p(c);
  p.network().filter = [](Time, int from, const engine::Transmit& t) {
    const auto* w = std::get_if<wire::Write>(&t.packet.body);
    return from != 0 || w == nullptr || w->retransmitted;
  };
  EXPECT_EQ(p.write(0, 1, 0, 1000).error, 0);
  EXPECT_TRUE(p.run_until([&] { return p.side(0).completions.size() == 1; }, 100ms));
  std::optional<Duration> sample;
  for (const auto& f : heard) {
    if (f.newly > 0) sample = f.rtt;
  }
  return sample;
}

TEST(PairStory, ARepairIsASampleOnlyWithItsTimestamp) {  // MRC-CC-020
  const auto with = sample_of_repair(true);
  ASSERT_TRUE(with.has_value());
  EXPECT_NEAR(static_cast<double>(with->count()), 10'500, 700);
  EXPECT_EQ(sample_of_repair(false), std::nullopt);
}

}  // namespace
}  // namespace mrc::testing
