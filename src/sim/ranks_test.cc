// One simulation on several ranks gives what one process gives. The ranks here are threads that trade bytes
// through memory; under mpirun they are processes, and everything above Ranks is the same.
#include "sim/ranks.h"

#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "sim/cm_workload.h"
#include "sim/summary.h"
#include "sim/world.h"

namespace mrc::sim {
namespace {

struct Table {
  explicit Table(unsigned n) : size(n), meet(n), mail(n), values(n), bytes(n) {}
  unsigned size;
  std::barrier<> meet;
  std::vector<std::vector<Ranks::Bytes>> mail;
  std::vector<std::vector<std::int64_t>> values;
  std::vector<Ranks::Bytes> bytes;
};

class ThreadRanks final : public Ranks {
 public:
  ThreadRanks(Table& table, unsigned rank) : table_(table), rank_(rank) {}
  unsigned rank() const override { return rank_; }
  unsigned size() const override { return table_.size; }
  void exchange(const std::vector<Bytes>& out, Bytes& in) override {
    table_.mail[rank_] = out;
    table_.meet.arrive_and_wait();
    in.clear();
    for (unsigned r = 0; r < size(); ++r) {
      if (r != rank_) in.insert(in.end(), table_.mail[r][rank_].begin(), table_.mail[r][rank_].end());
    }
    table_.meet.arrive_and_wait();
  }
  std::int64_t least(std::int64_t value) override {
    table_.values[rank_] = {value};
    table_.meet.arrive_and_wait();
    for (const auto& v : table_.values) value = std::min(value, v[0]);
    table_.meet.arrive_and_wait();
    return value;
  }
  void add(std::span<std::int64_t> values) override {
    table_.values[rank_].assign(values.begin(), values.end());
    table_.meet.arrive_and_wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 0;
      for (const auto& v : table_.values) values[i] += v[i];
    }
    table_.meet.arrive_and_wait();
  }
  std::vector<Bytes> gather(const Bytes& mine) override {
    table_.bytes[rank_] = mine;
    table_.meet.arrive_and_wait();
    const std::vector<Bytes> all = rank_ == 0 ? table_.bytes : std::vector<Bytes>{};
    table_.meet.arrive_and_wait();
    return all;
  }

 private:
  Table& table_;
  unsigned rank_;
};

struct Outcome {
  std::vector<Flow> flows;
  Summary summary;
  std::string unfinished;
};

/// Sixteen hosts, an incast and a permutation, a lossy cable.
Outcome run(Ranks* ranks, unsigned threads, Transport transport, Ps end = kNeverPs) {
  topo::Spec spec;
  spec.planes = 2, spec.tiers = 2, spec.pods = 1;
  spec.t0 = 4, spec.t1 = 4, spec.hosts_per_t0 = 4;
  spec.host_link = spec.t0_t1 = {400'000'000'000, 1000ns};
  const topo::Topology topo = *topo::Topology::make(spec);
  std::string cm = "Nodes 16\n";
  for (int i = 1; i < 16; ++i) {
    cm += std::to_string(i) + "->0 id " + std::to_string(i) + " start 0 size 100000\n";
    cm += std::to_string(i) + "->" + std::to_string((i + 5) % 16) + " id " + std::to_string(i + 20) +
          " start 3000000 size 300000\n";
  }
  CmWorkload load(*parse_cm(cm, "t"));
  WorldSettings settings;
  settings.threads = threads;
  settings.ranks = ranks;
  settings.end = end;
  settings.hosts.transport = transport;
  settings.strokes = *plan_faults(
      topo,
      {{.kind = FaultKind::lossy, .target = topo.name(topo.host_link(topo::HostId(3), 0)), .amount = 0.02}});
  World world(topo, settings, load);
  world.run();
  if (!world.gather()) return {};
  Outcome out;
  out.flows = world.flows();
  out.summary = summarise(world, out.flows, {});
  out.unfinished = load.unfinished();
  return out;
}

TEST(Ranks, KnowWhatIsUnfinishedAsOneProcessDoes) {
  for (const Ps end : {Ps{9'000'000}, Ps{14'000'000}, kNeverPs}) {
    const std::string one = run(nullptr, 1, Transport::mrc, end).unfinished;
    EXPECT_EQ(one.empty(), end == kNeverPs) << one;
    Table table(2);
    std::string unfinished;
    std::thread other([&] {
      ThreadRanks ranks(table, 1);
      run(&ranks, 1, Transport::mrc, end);
    });
    ThreadRanks ranks(table, 0);
    unfinished = run(&ranks, 1, Transport::mrc, end).unfinished;
    other.join();
    EXPECT_EQ(unfinished, one);
  }
}

TEST(Ranks, GiveTheSameResultsAsOneProcess) {
  for (const Transport transport : {Transport::mrc, Transport::roce}) {
    const Outcome one = run(nullptr, 1, transport);
    EXPECT_EQ(one.summary.unfinished, 0u);
    for (const auto& [size, threads] : {std::pair{2u, 1u}, {3u, 1u}, {2u, 2u}}) {
      Table table(size);
      std::vector<Outcome> outcomes(size);
      std::vector<std::thread> others;
      for (unsigned r = 0; r < size; ++r) {
        others.emplace_back([&, r] {
          ThreadRanks ranks(table, r);
          outcomes[r] = run(&ranks, threads, transport);
        });
      }
      for (std::thread& t : others) t.join();
      ASSERT_EQ(outcomes[0].flows.size(), one.flows.size());
      for (std::size_t i = 0; i < one.flows.size(); ++i) {
        EXPECT_EQ(outcomes[0].flows[i].received, one.flows[i].received) << size << " ranks, flow " << i;
        EXPECT_EQ(outcomes[0].flows[i].acknowledged, one.flows[i].acknowledged);
      }
      EXPECT_EQ(outcomes[0].summary.hops, one.summary.hops);
      EXPECT_EQ(outcomes[0].summary.packets.data_packets, one.summary.packets.data_packets);
      EXPECT_EQ(outcomes[0].summary.losses, one.summary.losses);
      EXPECT_EQ(outcomes[0].summary.qps, one.summary.qps);
    }
  }
}

}  // namespace
}  // namespace mrc::sim
