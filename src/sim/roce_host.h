// A host of the RoCEv2 baseline: the same program, ports and fabric, another transport. It is the only one
// in the simulator that is not the engine that ships.
#pragma once

#include <deque>
#include <vector>

#include "sim/peer_map.h"
#include "sim/program_host.h"
#include "sim/roce_qp.h"

namespace mrc::sim {

class RoceHost final : public ProgramHost {
 public:
  RoceHost(HostPlan& plan, Host self);

  std::vector<QpCount> qp_counts() override;
  /// A QP stays on its port: nothing moves, as in a fabric without link aggregation.
  void set_port(topo::Plane, bool, Ps) override {}
  const RoceSender& sender(std::uint32_t qp) const { return qps_[qp].sender; }

 private:
  struct Qp {
    RoceSender sender;
    RoceReceiver receiver;
    std::uint32_t connection = 0;
    std::uint16_t place = 0;
    topo::Plane plane = 0;
    std::uint32_t entropy = 0;  // its UDP source port
    bool queued = false;        // in its plane's queues
    bool timed = false;         // in timeouts_
  };
  struct Incoming {
    std::uint16_t arrived = 0, parts = 0;
    std::uint32_t tag = 0;
  };
  struct Connection {
    Host peer = 0;
    std::uint32_t first_qp = 0;
    std::uint32_t next_sequence = 0;  // of messages to it
    std::uint32_t received = 0;       // messages from it
    std::deque<Incoming> incoming;    // from message number `received` on
  };
  struct Sending {
    Message message;
    std::uint32_t record = 0;
    std::uint16_t open_parts = 0;
  };
  struct Answer {
    Host to = 0;
    RocePacket packet;
    std::uint32_t entropy = 0;
  };
  struct Due {
    Ps when = 0;
    std::uint32_t qp = 0;
    bool operator<(const Due& o) const { return when != o.when ? when > o.when : qp > o.qp; }
  };
  /// What waits to leave by one port: answers, QPs whose turn it is, and those that their rate holds back.
  struct Outlet {
    std::deque<Answer> answers;
    std::deque<std::uint32_t> ready;
    std::vector<Due> paced;  // a heap
  };

  void send(const Message& message) override;
  void arrive(const Transit& t) override;
  void pump() override;
  Ps next_transport() const override;
  void handle_timeout() override;

  Connection& connection_to(Host peer);
  void queue(std::uint32_t qp);
  void watch(std::uint32_t qp);
  void drain(Qp& qp);
  void finish(const RocePart& part, bool failed);
  void on_data(Connection& c, Qp& qp, const RocePacket& packet, bool marked, topo::Plane plane);
  void note_part(Connection& c, const RocePacket& packet);
  bool send_one(topo::Plane plane);
  void emit(Host to, topo::Plane plane, const RocePacket& packet, std::uint32_t entropy, bool repair);

  const RoceSettings& settings_;
  PeerMap by_peer_;
  std::deque<Connection> connections_;
  std::deque<Qp> qps_;
  std::vector<Sending> sending_;
  std::vector<Outlet> outlets_;  // by plane
  std::vector<Due> timeouts_;    // a heap
};

}  // namespace mrc::sim
