// The mapper on a real node: the agent, and the sockets that carry its probes. For the node's daemon to run
// in its loop, or for `mrc map`.
//
//   poll(fd(), until next()); turn(now());
//
// Probes leave by a raw socket (CAP_NET_RAW) with all their headers, and come back to this host's segment id,
// where the kernel takes the outer header off (End.DT6) and hands them to a UDP socket. Answers wait there
// until the next probes are due, stamped by the kernel: a node that hears nothing wrong wakes once per
// period.
#pragma once

#include <memory>

#include "map/agent.h"
#include "map/probe_packet.h"
#include "map/survey.h"
#include "port/fd.h"

namespace mrc::map {

class Mapper {
 public:
  /// `topo` must outlive it. EPERM says which privilege is missing.
  static Result<std::unique_ptr<Mapper>> open(const topo::Topology& topo, HostId host,
                                              const Settings& settings);

  static Time now();
  /// Readable when another node asks to have a probe passed on.
  int fd() const { return relays_.get(); }
  Time next() const { return agent_.next(); }
  /// Takes what has come, sends what is due. True when it was time for probes, so that observations are new.
  bool turn(Time now);

  const Agent& agent() const { return agent_; }
  /// What this node alone makes of it.
  Survey& survey() { return survey_; }

 private:
  Mapper(const topo::Topology& topo, HostId host, const Settings& settings, std::uint64_t nonce, port::Fd out,
         port::Fd answers, port::Fd relays);
  void take_answers();
  void take_answer(const ProbePacket& p, const Ipv6& from, Time arrived);
  void take_relays(Time now);
  bool relay(const ProbePacket& p, const Ipv6& from, Time now);
  bool may_relay(Time now);
  void send(const Itinerary& way, const ProbePacket& p);

  const topo::Topology& topo_;
  Settings settings_;
  Agent agent_;
  Survey survey_;
  std::uint64_t nonce_;
  port::Fd out_, answers_, relays_;
  double relay_tokens_ = 0;
  Time relay_time_{};
};

}  // namespace mrc::map
