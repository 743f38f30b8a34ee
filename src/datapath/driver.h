// Bytes to values and back: one NIC, its ports, and the only loop there is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/counters.h"
#include "base/time.h"
#include "datapath/answer_hold.h"
#include "datapath/outbox.h"
#include "datapath/patience.h"
#include "nic/nic.h"
#include "port/port.h"
#include "port/readiness.h"
#include "wire/codec.h"
#include "wire/settings.h"
#include "wire/verdict.h"

namespace mrc::datapath {

struct DriverSettings {
  wire::Settings wire;
  OutboxSettings outbox;
  std::uint32_t rx_burst = 64;   // packets taken from one port before the others have their turn
  std::uint32_t rx_few = 8;      // a port that gave no more than so many is asked together with others
  std::uint32_t tx_bursts = 16;  // bursts in one turn: what arrives meanwhile must not wait long
  Duration service_interval =
      100us;          // this often a port looks after itself (link events), one after the other
  HoldSettings hold;  // answers that wait for a reply
  PatienceSettings patience;
};

/// Drives one NIC over its ports: port N of the NIC is ports[N-1], all at Layer::datagram.
///
/// turn(now) takes what has arrived, lets timers run, and sends what is ready. When it returns false there is
/// nothing to do until a port's wait_fd() or event_fd() is readable, its tx_blocked_fd() is writable, or
/// next_timeout(). REQUIRES: the NIC and the ports outlive it; one thread at a time; `now` never runs
/// backwards.
class Driver {
 public:
  Driver(nic::Nic& nic, std::span<port::Port* const> ports, const DriverSettings& settings);

  bool turn(Time now);
  /// A turn for an application that polls. When only a few packets came, their answers may wait for what it
  /// has to reply: see AnswerHold.
  bool glance(Time now);
  /// Only sends: for the thread that has just posted. Answers that wait for a reply go on waiting.
  bool transmit(Time now);
  Time next_timeout() const { return patience_.until(nic_.next_timeout()); }

  /// What waits for a port is dropped, and repaired later. Call it before memory that may be in it goes away.
  void discard_unsent();

  /// The controller's word on a port: a disabled one is down, whatever its link says.
  void set_port_admin(Time now, PortId port, bool enabled);
  bool port_admin(PortId port) const { return !disabled_.has(port); }
  /// Whether the port still has its address: without it, it is down likewise.
  void set_port_address(Time now, PortId port, bool present);
  bool port_address(PortId port) const { return !homeless_.has(port); }

  /// Packets that never became values, by what was wrong with them.
  const Counters<Verdict, kVerdictCount>& refused() const { return refused_; }

 private:
  static constexpr std::size_t kFetchAhead = 6;  // packets
  std::size_t receive(Time now);
  void run_timers(Time now);
  void hold_answers(Time now);
  bool send(Time now);
  bool send(Time now, bool (nic::Nic::*poll)(Time, PortMask, nic::Departure&));
  std::size_t receive(Time now, std::size_t port);
  static bool same_around(const port::RxPacket& a, const port::RxPacket& b);
  static void fetch(const port::RxPacket& packet);
  void expect(const port::RxPacket& packet);
  void look_around(const port::RxPacket& packet);
  void take(Time now, PortId port, const port::RxPacket& packet);
  PortMask room() const;
  void service(Time now);
  void service(Time now, std::size_t port, bool changed);
  void follow_link(Time now, PortId port);

  nic::Nic& nic_;
  DriverSettings settings_;
  std::vector<port::Port*> ports_;
  std::vector<Outbox> outboxes_;
  std::vector<port::RxPacket> arrivals_;
  port::Readiness readiness_;
  PortMask cheap_;  // ports that are asked whenever we come by
  PortMask eager_;  // ports that are asked without looking first: much came, or service() may know of more
  // Of the packet being taken. `around_` is written once per train and read for each packet: written for
  // each, the wide loads right behind its narrow stores would wait for the last packet's bytes to reach
  // memory.
  wire::Datagram around_;
  wire::Parsed parsed_;
  nic::Departure departure_;
  Time next_service_ = Time::min();
  std::size_t serve_next_ = 0;
  AnswerHold hold_;
  Patience patience_;
  std::size_t writes_ = 0;      // taken in this turn
  bool message_ended_ = false;  // with the last of them
  Qpn expected_;
  PortMask disabled_;
  PortMask homeless_;
  Counters<Verdict, kVerdictCount> refused_;
};

}  // namespace mrc::datapath
