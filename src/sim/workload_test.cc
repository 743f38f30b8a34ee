// Workloads without a network: messages arrive after a fixed time, so only who waits for whom matters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <queue>

#include "base/prng.h"
#include "sim/cm_workload.h"
#include "sim/goal_workload.h"
#include "sim/job.h"
#include "sim/pattern.h"
#include "sim/training.h"

namespace mrc::sim {
namespace {

constexpr Ps kFlight = 1000;  // a message takes this long, its acknowledgement as long again

/// Runs a workload to its end and remembers every message.
class Stage {
 public:
  struct Sent {
    Ps when;
    Host from, to;
    std::uint64_t bytes;
  };

  Stage(Workload& w, Host hosts, std::uint64_t jitter_seed = 0)
      : workload_(w), jitter_(jitter_seed), jittered_(jitter_seed != 0) {
    for (Host h = 0; h < hosts; ++h) {
      if (w.takes_part(h))
        at(0, [this, h] {
          Hands hands(*this, h);
          workload_.start(h, hands);
        });
    }
    while (!events_.empty()) {
      const auto next = events_.top();
      events_.pop();
      now_ = next.when;
      actions_[next.action]();
    }
  }

  std::vector<Sent> sent;
  Ps end() const { return now_; }
  std::uint64_t bytes_from(Host h) const {
    std::uint64_t sum = 0;
    for (const Sent& s : sent) sum += s.from == h ? s.bytes : 0;
    return sum;
  }

 private:
  struct Hands final : Actions {
    Hands(Stage& s, Host h) : stage(s), host(h) {}
    Ps now() const override { return stage.now_; }
    void send(const Message& m) override { stage.carry(host, m); }
    void wait(Ps delay, std::uint64_t token) override {
      stage.at(stage.now_ + delay, [&s = stage, h = host, token] {
        Hands hands(s, h);
        s.workload_.on_timer(h, token, hands);
      });
    }
    void signal(Host to, std::uint64_t word) override {
      stage.at(stage.now_ + (to == host ? 0 : kFlight), [&s = stage, to, word] {
        Hands hands(s, to);
        s.workload_.on_signal(to, word, hands);
      });
    }
    Stage& stage;
    Host host;
  };
  struct Event {
    Ps when;
    std::size_t action;
    bool operator<(const Event& o) const { return when != o.when ? when > o.when : action > o.action; }
  };

  void carry(Host from, const Message& m) {
    sent.push_back({now_, from, m.peer, m.bytes});
    const Ps there = now_ + kFlight + (jittered_ ? jitter_.below(5 * kFlight) : 0);
    at(there, [this, from, m] {
      Hands hands(*this, m.peer);
      workload_.on_received(m.peer, from, m.tag, hands);
    });
    at(there + kFlight, [this, from, m] {
      Hands hands(*this, from);
      workload_.on_sent(from, m, hands);
    });
  }
  void at(Ps when, std::function<void()> action) {
    events_.push({when, actions_.size()});
    actions_.push_back(std::move(action));
  }

  Workload& workload_;
  Ps now_ = 0;
  Prng jitter_;
  bool jittered_;
  std::priority_queue<Event> events_;
  std::vector<std::function<void()>> actions_;
};

Job job_of(std::unique_ptr<Program> program, Ps start = 0) {
  Placement placement;
  placement.start = start;
  const std::uint32_t n = program->ranks();
  for (Host h = 0; h < n; ++h) placement.host_of.push_back(n - 1 - h);  // not the identity
  return Job(3, std::move(program), placement, n);
}

class EveryPattern : public testing::TestWithParam<PatternKind> {};

TEST_P(EveryPattern, EndsWhateverTheOrderOfArrivals) {
  for (const std::uint32_t n : {2u, 3u, 8u, 13u}) {
    if (GetParam() == PatternKind::pairwise && n % 2 != 0) continue;
    for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
      auto program = make_program(
          {.kind = GetParam(), .ranks = n, .bytes = 10'000, .iterations = 3, .gap = 50, .skew = 40});
      ASSERT_TRUE(program) << program.error().what;
      Job job = job_of(std::move(*program), 77);
      const Stage stage(job, n, seed);
      EXPECT_EQ(job.unfinished(), "") << n << " ranks, seed " << seed;
      EXPECT_GE(stage.sent.size(), 3u);
      EXPECT_GE(stage.sent[0].when, 77);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, EveryPattern,
                         testing::Values(PatternKind::permutation, PatternKind::incast, PatternKind::pairwise,
                                         PatternKind::ring_allreduce, PatternKind::tree_allreduce,
                                         PatternKind::reduce_scatter, PatternKind::all_gather,
                                         PatternKind::all_to_all, PatternKind::moe, PatternKind::pipeline),
                         [](const auto& param) { return std::string(name(param.param)); });

TEST(Patterns, RingAllReduceMovesWhatTheAlgorithmMoves) {
  Job job =
      job_of(std::move(*make_program({.kind = PatternKind::ring_allreduce, .ranks = 8, .bytes = 80'000})));
  const Stage stage(job, 8);
  for (Host h = 0; h < 8; ++h) EXPECT_EQ(stage.bytes_from(h), 2 * 7 * 10'000u);
  EXPECT_EQ(stage.end(), 14 * kFlight + kFlight) << "each round waits for the one before";
}

TEST(Patterns, TreeAllReduceGoesUpAndDown) {
  Job job = job_of(std::move(
      *make_program({.kind = PatternKind::tree_allreduce, .ranks = 7, .bytes = 1'000, .pieces = 1})));
  const Stage stage(job, 7);
  EXPECT_EQ(stage.sent.size(), 12u) << "once over each edge, each way";
  EXPECT_EQ(stage.end(), 5 * kFlight) << "two levels up, two down, and the last acknowledgement";
}

TEST(Patterns, PermutationHasNoFixedPoint) {
  const auto to = derangement(1000, 42);
  std::vector<bool> hit(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    EXPECT_NE(to[i], i);
    hit[to[i]] = true;
  }
  EXPECT_THAT(hit, testing::Each(true));
  EXPECT_NE(to, derangement(1000, 43));
}

TEST(Patterns, SkewChangesSharesAndNotTheirOrderOfMagnitude) {
  Job job =
      job_of(std::move(*make_program({.kind = PatternKind::moe, .ranks = 16, .bytes = 16'000, .skew = 80})));
  const Stage stage(job, 16);
  std::uint64_t least = UINT64_MAX, most = 0;
  for (const auto& s : stage.sent) {
    least = std::min(least, s.bytes);
    most = std::max(most, s.bytes);
  }
  EXPECT_LT(least, 800u);
  EXPECT_GT(most, 1200u);
  EXPECT_LE(most, 1800u);
}

TEST(Training, OneForwardOneBackward) {
  Training t{.tp = 2, .pp = 4, .dp = 4, .ep = 2, .microbatches = 6, .iterations = 2};
  t.activation_bytes = 100, t.tensor_bytes = 200, t.expert_bytes = 300, t.gradient_bytes = 400,
  t.forward = 10'000;
  for (const std::uint64_t seed : {0u, 9u}) {
    Job job = job_of(std::move(*make_training(t)));
    const Stage stage(job, t.ranks(), seed);
    EXPECT_EQ(job.unfinished(), "");
    const auto activations =
        std::count_if(stage.sent.begin(), stage.sent.end(), [](const auto& s) { return s.bytes == 100; });
    // Gradients too are pieces of 100 bytes: 2 (dp-1) rounds. Tensor pieces too: 2 (tp-1), per microbatch and
    // pass.
    EXPECT_EQ(activations, 2 * (2 * 6 * 3 * 8 + 32 * 6 + 32 * 6 * 2 * 2));
    // Filling and draining the pipeline: (microbatches + stages - 1) passes of 3 x 10,000 ps at least.
    EXPECT_GE(stage.end(), 2 * 9 * 30'000);
  }
}

TEST(Training, RefusesLayoutsThatDoNotExist) {
  EXPECT_FALSE(make_training({.dp = 4, .ep = 3}));
  EXPECT_FALSE(make_training({}));
  const auto too_many = make_training({.tp = 1 << 12, .pp = 1 << 12, .dp = 1 << 12});
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().what, testing::HasSubstr("ranks"));
}

TEST(Cm, TriggersChainAndGather) {
  auto file = parse_cm(
      "Nodes 4\nConnections 4\nTriggers 2\n"
      "0->1 id 1 start 0 size 100 send_done_trigger 1\n"
      "2->1 id 2 start 500 size 100 recv_done_trigger 1\n"
      "3->0 id 3 trigger 1 size 100 send_done_trigger 2\n"
      "3->2 id 4 trigger 2 size 100\n"
      "trigger id 1 barrier count 2\ntrigger id 2 oneshot\n",
      "t.cm");
  ASSERT_TRUE(file) << file.error().what;
  CmWorkload w(std::move(*file));
  const Stage stage(w, 4);
  EXPECT_EQ(w.unfinished(), "");
  ASSERT_EQ(stage.sent.size(), 4u);
  EXPECT_EQ(stage.sent[1].when, 500);
  EXPECT_EQ(stage.sent[2].when, 2 * kFlight + kFlight) << "after both, plus a signal";
  EXPECT_EQ(stage.sent[3].when, stage.sent[2].when + 2 * kFlight) << "the same host: at once";
}

TEST(Cm, SaysWhatNeverStarted) {
  CmWorkload w({.nodes = 2,
                .connections = {{.id = 1, .destination = 1, .bytes = 5, .trigger = 7, .line = 2}},
                .triggers = {{.id = 7}},
                .failures = {}});
  const Stage stage(w, 2);
  EXPECT_THAT(w.unfinished(), testing::HasSubstr("line 2"));
}

TEST(Goal, FollowsTheGraph) {
  auto file = parse_goal(
      "num_ranks 2\n"
      "rank 0 {\na: calc 10\nb: send 64b to 1 tag 5\nc: recv 8b from 1 tag 6\nb requires a\nd: calc 3\nd "
      "requires c\n}\n"
      "rank 1 {\nx: recv 64b from 0 tag 5\ny: send 8b to 0 tag 6\ny requires x\nz: calc 1000\nz irequires "
      "y\n}\n",
      "t.goal");
  ASSERT_TRUE(file) << file.error().what;
  GoalWorkload w(std::move(*file));
  const Stage stage(w, 2);
  EXPECT_EQ(w.unfinished(), "");
  ASSERT_EQ(stage.sent.size(), 2u);
  EXPECT_EQ(stage.sent[0].when, 10 * kPsPerNs);
  EXPECT_EQ(stage.sent[1].when, 10 * kPsPerNs + kFlight);
}

}  // namespace
}  // namespace mrc::sim
