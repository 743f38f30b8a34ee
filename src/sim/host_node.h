// A host with the real NIC.
//
// host_node.cc moves packets and time; host_messages.cc turns the program's messages into writes and
// completions back into events of the program.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "nic/nic.h"
#include "sim/host_plan.h"
#include "sim/peer_map.h"
#include "sim/program_host.h"

namespace mrc::sim {

class HostNode final : public ProgramHost, private nic::CongestionMaker {
 public:
  HostNode(HostPlan& plan, Host self);

  nic::Nic& nic() { return nic_; }
  std::vector<QpCount> qp_counts() override;
  void visit_qps(const QpVisitor& visit) override;
  void set_port(topo::Plane plane, bool up, Ps now) override {
    nic_.set_port(engine_time(now), topo::nic_port(plane), up);
  }

 private:
  static constexpr std::uint32_t kQps = 16;  // QP numbers below are reserved
  /// What both ends of a pair call its QPs on the wire.
  Qpn wire_qpn(std::uint16_t generation, std::uint16_t place) const {
    return Qpn((kQps + std::uint32_t{generation} * plan_.settings.qps_per_pair + place) & 0xFFFFFF);
  }

  /// One QP of a pair. QPs are named by their place in the pair: numbers are agreed on outside the fabric.
  struct PairQp {
    nic::Qp* qp = nullptr;
    std::uint32_t received = 0;          // messages
    std::uint32_t posted = 0;            // of the backlog: those before it have no more writes to post
    std::vector<std::uint32_t> backlog;  // messages to the peer, in order
  };
  /// A pair's QPs are retired when both ends have had nothing to do for a while, so that memory follows the
  /// pairs that talk. One end asks, outside the fabric as QPs are agreed on, and holds what it wants to send
  /// until the other has agreed or refused. `generation` tells the packets of one life from the next one's.
  struct Connection {
    Host peer = 0;
    std::uint32_t next_sequence = 0;  // of messages to it
    std::uint32_t unfinished = 0;     // of those: not acknowledged
    std::uint16_t generation = 0;
    bool alive = false;    // has QPs
    bool asking = false;   // wants to retire them
    bool resting = false;  // in resting_
    Ps opens_at = 0;       // set up: may post from then on
    Ps used_at = 0;        // last message sent, acknowledged or received
    std::vector<PairQp> qps;
  };
  struct Rest {
    Ps until = 0;
    std::uint32_t connection = 0;
  };
  /// A message on its way out.
  struct Sending {
    Message message;
    std::uint32_t record = 0;  // in log_.sent
    std::uint32_t connection = 0;
    std::uint64_t unposted = 0;  // bytes
    std::uint32_t open_writes = 0;
  };
  // Actions
  void send(const Message& message) override;
  // CongestionMaker
  std::unique_ptr<engine::Congestion> make(const nic::CongestionRequest& request) override;

  // host_node.cc
  void arrive(const Transit& t) override;
  void pump() override;
  Ps next_transport() const override;
  void handle_timeout() override;
  void make_room_for_failures();
  void emit(const nic::Departure& departure);
  bool localise(Cargo& cargo);
  PortMask ports_with_room() const;

  // host_messages.cc
  Connection& connection_to(Host peer);
  void revive(Connection& c);
  void open_due();
  // host_retire.cc
  void hear_transport(Host from, std::uint64_t word) override;
  void note_use(std::uint32_t connection);
  void retire_idle();
  void retire(Connection& c);
  bool idle(const Connection& c) const { return c.unfinished == 0; }
  nic::Qp* make_qp(Host peer, std::uint32_t connection, std::uint16_t place);
  void post(std::uint32_t connection, std::uint32_t qp);
  bool drain_completions();
  void on_send_done(const nic::Cqe& entry);
  void on_receive_done(const nic::Cqe& entry);

  bool wants_port_ = false;  // the NIC has more to send than the free ports could take
  nic::CompletionQueue cq_;
  nic::Nic nic_;
  RKey key_;
  PeerMap by_peer_;
  std::vector<Connection> connections_;
  std::vector<Sending> sending_;
  std::vector<std::uint32_t> free_sending_;
  std::vector<Rest> opening_;     // connections that are being set up, by time
  std::deque<Rest> resting_;      // connections that may soon be idle, by time
  std::vector<QpCount> retired_;  // what retired QPs had sent
};

}  // namespace mrc::sim
