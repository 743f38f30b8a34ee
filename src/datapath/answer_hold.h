// When answers (SACK, Transport ACK) may wait for an application's reply, and for how long.
//
// Sending answers takes as long as sending a reply. An application that polls is back at once, so they may
// wait for that call, and for some more if it takes a moment to find its reply (a GPU has to see the data
// first); and while it replies to each arrival, a few arrivals share one answer. Answers that may not wait
// any longer still let the application have what came with them, and leave when it polls in vain. All are
// bets: one that was lost is not made again for a while, and twice as long the next time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace mrc::datapath {

struct HoldSettings {
  std::uint32_t packets = 8;  // arrivals whose answers may wait together; 0: none
  Duration regret = 20us;     // an application that was not back within this lost the bet
  Duration reply = 15us;      // it may poll for so long before it replies
  Duration most = 60us;       // in a conversation, answers wait at most so long for the next arrival,
  std::uint32_t gaps = 2;     // and at most so many of its usual gaps
  std::uint32_t pause = 32;   // polls without a bet after a lost one, doubled each time; less if by little
  std::uint32_t pause_max = 1 << 16;
};

class AnswerHold {
 public:
  explicit AnswerHold(const HoldSettings& settings)
      : settings_(settings), call_(settings), reply_(settings), talk_(settings) {}

  bool holding() const { return holding_; }
  /// Whether answers may wait until the next look. `arrived`: writes taken since the last one; what the peer
  /// answers asks for no reply.
  bool look(Time now, std::size_t arrived);
  /// The application sent something while answers waited.
  void note_reply() { replied_ = true, reply_.won(settings_); }
  void release() { holding_ = false; }

 private:
  /// A bet that is not made for a while after it was lost.
  class Bet {
   public:
    explicit Bet(const HoldSettings& s) : next_(s.pause) {}
    bool open() const { return pause_ == 0; }
    void tick() { pause_ -= pause_ > 0; }
    void won(const HoldSettings& s);
    /// By how much: 8 is the whole pause. By less than that it was bad luck, which does not double it.
    void lost(const HoldSettings& s, std::uint32_t eighths = 8);

   private:
    std::uint32_t pause_ = 0;
    std::uint32_t next_;
  };

  bool begin(Time now, std::size_t arrived);
  bool go_on(Time now, std::size_t arrived);
  bool may_wait(Time now, std::size_t arrived);
  bool may_wait_for_reply(Time now);
  void note_arrival(Time now);
  std::uint32_t regrets(Duration away) const;
  Duration limit() const;

  HoldSettings settings_;
  Bet call_;   // that the application is back at once
  Bet reply_;  // that it replies soon although it polled without
  Bet talk_;   // that the next arrival comes as soon as the last one did
  bool holding_ = false;
  bool due_ = false;         // they leave as soon as there is nothing for the application
  bool replied_ = false;     // to the last arrival
  std::size_t waiting_ = 0;  // arrivals whose answers wait
  Time looked_ = Time::min();
  Time arrival_ = Time::min();       // of the last one that was replied to
  Duration gap_ = Duration::zero();  // between arrivals of a conversation: a decaying maximum
};

}  // namespace mrc::datapath
