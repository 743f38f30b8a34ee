// The same small fabric (4 planes, slow links, switches that trim) and the same transfers, in a lab, through
// the real kernel and libmrc, and in the simulator.
//
// Hosts and switches of a lab share this machine's cores. So links are slow, which takes little of a core,
// and the lab goes before all other work of the machine: it would be taken for the network.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hosts.h"
#include "scenario/outcome.h"
#include "tools/lab_transfer.h"
#include "tools/real_time.h"

namespace mrc::testing {

inline constexpr std::uint64_t kRate = 1'000'000;
inline constexpr std::uint32_t kMessage = 32 * 1024, kSlots = 8;
inline constexpr std::uint16_t kEvs = 8;
inline constexpr std::uint32_t kSlackUs =
    500'000;                                  // packets wait in a host's kernel, and a probe behind them
inline constexpr std::uint8_t kTimeout = 20;  // about a second: seven round trips

struct Transfer {
  std::uint32_t from = 0, to = 0;
  std::uint64_t messages = 0;  // 0: until the test has seen enough
};

inline topo::Topology slow_fabric() {
  return *topo::Topology::make({.planes = 4,
                                .tiers = 2,
                                .t0 = 2,
                                .t1 = 2,
                                .hosts_per_t0 = 2,
                                .host_link = {.bits_per_second = kRate},
                                .t0_t1 = {.bits_per_second = kRate}});
}

inline scenario::Scenario simulated(const std::vector<Transfer>& transfers, std::uint32_t window) {
  scenario::Scenario s;
  s.topology = slow_fabric().spec();
  s.world.hosts.evs = kEvs;
  s.world.hosts.send_depth = kSlots;
  s.world.hosts.congestion = engine::CcAlgorithm::constant;
  s.world.hosts.window = window;
  s.world.hosts.requestor.timeout = kTimeout;
  s.world.hosts.requestor.suspect_slack = std::chrono::microseconds(kSlackUs);
  s.world.hosts.responder.sack_bytes = engine::ResponderSettings{}.sack_bytes;
  scenario::JobSpec job{.kind = scenario::JobKind::streams};
  for (const Transfer& t : transfers)
    job.streams.push_back(
        {.from = t.from, .to = t.to, .bytes = kMessage, .messages = t.messages, .depth = kSlots});
  s.jobs.push_back(job);
  return s;
}

inline scenario::Outcome simulate(const scenario::Scenario& s, engine::EventSink* sink = nullptr) {
  auto prepared = scenario::prepare(s);
  EXPECT_TRUE(prepared) << prepared.error().what;
  prepared->world.hosts.traced = 0;
  prepared->world.hosts.sink = sink;
  return scenario::run(s, *prepared, {});
}

/// A lab with the queues that the simulator gives to such links.
inline lab::LabSettings lab_settings(const topo::Topology& topo) {
  lab::LabSettings settings;
  settings.wiring.soft = {topo::Tier::t0, topo::Tier::t1};
  settings.wiring.shaping = {.least_burst = 4500, .queue_ns = 1'000'000'000};  // hosts send as a NIC does
  const std::uint32_t frame = sim::HostSettings{}.path_mtu + 150u;
  const sim::LinkPlan plan = sim::plan_links(topo, {}, sim::base_rtt(topo, frame, 150));
  fabric::LinkSettings& link = settings.wiring.tuning.link;
  link.data_limit = plan.to_host.data_limit;
  link.control_limit = plan.to_host.control_limit;
  link.ecn_low = plan.t0_up.ecn_low;
  link.ecn_high = plan.t0_up.ecn_high;
  return settings;
}

/// A lab that goes first; it is skipped where the machine allows no lab, or nobody to go first.
#define MRC_FIRST_LAB_OR_SKIP(variable, topology)                                                         \
  if (!tools::go_first())                                                                                 \
    GTEST_SKIP() << "NOT COMPARED: this machine lets no lab go first (it takes CAP_SYS_NICE), and other " \
                    "work would be taken for the network";                                                \
  MRC_LAB_OR_SKIP(variable, topology, lab_settings(topology))

using Samples = std::vector<std::vector<tools::BulkSample>>;  // per transfer

/// Runs transfers to their end, or until `enough` says so of what was sampled. False: something went wrong.
/// The last sample of each is of its end.
inline bool run_in_lab(lab::Lab& lab, const std::vector<Transfer>& transfers, std::uint32_t window,
                       Samples& seen, const std::function<bool(const Samples&)>& enough = {}) {
  using Kind = tools::TransferReport::Kind;
  std::vector<tools::TransferEnds> ends;
  for (const Transfer& t : transfers)
    ends.push_back({"h" + std::to_string(t.from), "h" + std::to_string(t.to)});
  auto running = tools::LabTransfers::start(lab, ends,
                                            {.message_bytes = kMessage,
                                             .slots = kSlots,
                                             .window = window,
                                             .slack_us = kSlackUs,
                                             .evs = kEvs,
                                             .spray_unit = 1,
                                             .messages = transfers[0].messages,
                                             .timeout = kTimeout,
                                             .rests = true});
  if (!running) return ADD_FAILURE() << running.error().what, false;
  seen.assign(ends.size(), {});
  bool finishing = false;
  for (std::size_t done = 0; done < 2 * ends.size();) {
    const auto r = running->next();
    if (!r) return ADD_FAILURE() << r.error().what, false;
    done += r->kind == Kind::sent || r->kind == Kind::received;
    if (r->kind == Kind::received) {
      EXPECT_EQ(r->sample.corrupt, 0u);
    }
    if (r->kind != Kind::sample && r->kind != Kind::sent) continue;
    seen[r->transfer].push_back(r->sample);
    if (finishing || !enough || !enough(seen)) continue;
    finishing = true;
    running->finish();
  }
  return true;
}

}  // namespace mrc::testing
