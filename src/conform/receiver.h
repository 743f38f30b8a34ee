// The tester as responder: keeps what a device sends, and answers when and as a check wants.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "conform/bench.h"
#include "engine/receive_window.h"

namespace mrc::conform {

struct Arrival {
  Time at;
  int psn;  // counted from the device's first
  Ev ev;
  wire::TrafficClass traffic_class;
  wire::Write write;
  bool again;  // seen before
  int plane = 0;
};

class Receiver {
 public:
  explicit Receiver(Bench& bench);

  /// The next write. Probes that come before it are answered if `answers_probe` says so.
  std::optional<Arrival> take(Duration within);
  /// So many different packets, unanswered; fewer when nothing new comes for the time that an answer may
  /// take.
  std::vector<Arrival> take_all(std::size_t count);

  /// Until the device is silent; not for ever.
  void drain();

  void place(const Arrival& arrival);
  void sack(const Arrival& trigger, wire::SackMark mark = wire::SackMark::none);
  /// One that says something else.
  void sack(const Arrival& trigger, const std::function<void(wire::Sack&)>& change);
  void nack(const Arrival& about, wire::NackReason reason);
  /// A Transport ACK of every message that is whole, or of so many with a syndrome of choice.
  void acknowledge();
  void acknowledge(std::uint32_t messages, wire::Syndrome syndrome = wire::Syndrome::ack);
  /// take, place, sack and acknowledge in one; `mark` chooses each SACK's mark.
  using Mark = std::function<wire::SackMark(const Arrival&)>;
  std::vector<Arrival> serve(std::size_t count, const Mark& mark = {});

  /// The network's part: what it takes never arrived.
  std::function<bool(const Heard&)> loses = {};
  std::size_t lost_writes = 0;  // of those
  std::function<bool(Ev)> answers_probe = [](Ev) { return true; };
  const std::vector<Arrival>& seen() const { return seen_; }
  /// The last arrival of each PSN that came more than once.
  std::vector<Arrival> repeated() const;

 private:
  void answer_probe(const Heard& heard, const wire::Probe& probe);
  wire::Sack report(Ev ev);

  Bench& bench_;
  engine::ReceiveWindow window_;
  std::vector<Arrival> seen_;
  std::set<int> psns_;
  std::uint64_t bytes_ = 0;
};

}  // namespace mrc::conform
