// What a new QP asks before it has anything to carry: which of its paths are dead from the start. A program
// takes far longer to set a pair up than a probe to come back, and a question costs a thirtieth of a packet.
//
// It ends with the first packet of data in either direction: who waits for data must not find the port full
// of answers, and who sends it learns from what it sends.
#include "engine/requestor.h"

namespace mrc::engine {

namespace {
constexpr int kKnocks = 3;      // in vain, then data finds out
constexpr int kKnockShift = 3;  // each after eight times as long as the last
}  // namespace

/// Not at once: who posts right away shall not wait behind questions.
void Requestor::start(Time now) {
  if (paths_.asks_ahead()) check_at_ = now + clock_.longest();
}

/// The peer may not be there yet, and then its silence says nothing about paths: one is asked until it
/// answers.
void Requestor::knock(Time now) {
  if (heard_any_ || queue_.has_unsent()) return;
  paths_.ask_anyone(now, 2 * clock_.longest());
  if (knocks_ == kKnocks) return;
  check_at_ = now + 2 * clock_.longest() * (1 << kKnockShift * knocks_);
  knocks_ = (knocks_ + 1) & 3;
}

// MRC-EV-018: from the peer's first answer on, until there is something to carry.
void Requestor::ask_ahead() {
  if (!is_new_ || !heard_any_ || !paths_.asks_ahead() || queue_.has_unsent()) return;
  paths_.ask_ahead(patience(EvSlot(0)));
}

}  // namespace mrc::engine
