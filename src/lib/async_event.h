// Asynchronous events of a context: what happened to a QP, a CQ or a port outside of completions.
#pragma once

#include <infiniband/verbs.h>

#include "lib/acknowledgements.h"
#include "lib/event_queue.h"

namespace mrc::lib {

struct AsyncEvent {
  ibv_event_type type{};
  void* element = nullptr;  // the program's handle: an ibv_ or mrc_ QP or CQ; null for a port
  int port = 0;
  Acknowledgements* acks = nullptr;  // of that element
};

class AsyncQueue {
 public:
  int fd() const { return events_.fd(); }
  int open_error() const { return events_.open_error(); }
  void push(const AsyncEvent& event) { events_.push(event); }

  int take(AsyncEvent& out) {
    return events_.take(out, [](const AsyncEvent& event) {
      if (event.acks != nullptr) event.acks->note_delivered();
    });
  }

  /// The element is going: undelivered events vanish, delivered ones are waited for.
  void settle(const void* element, Acknowledgements& acks) {
    events_.forget([element](const AsyncEvent& event) { return event.element == element; });
    acks.wait();
  }

 private:
  EventQueue<AsyncEvent> events_;
};

}  // namespace mrc::lib
