// Work requests from post to completion: posted in order, segmented in order, completed in order, each once.
#pragma once

#include <cerrno>
#include <cstdint>

#include "base/fixed_array.h"
#include "base/psn.h"
#include "engine/types.h"

namespace mrc::engine {

struct Work {
  SendWork post;
  Psn first;  // valid once started
  std::uint32_t packets = 0;
  std::uint16_t msn = 0;
  std::uint16_t rqmsn = 0;

  Psn last() const { return first + static_cast<std::int32_t>(packets - 1); }
};

/// completed <= executed <= started <= posted; each counts messages since the QP began.
class SendQueue {
 public:
  SendQueue(std::uint16_t depth, std::uint16_t mtu) : ring_(depth), mtu_(mtu) {}

  std::size_t outstanding() const { return static_cast<std::size_t>(posted_ - completed_); }
  bool full() const { return posted_ - completed_ == ring_.size(); }
  std::uint16_t post(const SendWork& w) {
    Work& slot = at(posted_);
    slot = Work{.post = w, .packets = w.length == 0 ? 1 : (w.length - 1) / mtu_ + 1};
    return index(posted_++);
  }

  // The message being segmented, and where it stands.
  bool all_started() const { return started_ == posted_; }
  Work& to_start() { return at(started_); }
  const Work& to_start() const { return at(started_); }
  // MRC-REQ-002: MSN counts messages, RQMSN those with an immediate; both from 0.
  void start(Psn first) {
    Work& w = at(started_);
    w.first = first;
    w.msn = static_cast<std::uint16_t>(started_);
    w.rqmsn = w.post.has_imm ? rqmsn_++ : rqmsn_;
    if (w.post.has_imm) ++imm_started_;
    ++started_;
    segmenting_ = true;
  }
  bool segmenting() const { return segmenting_; }
  void finish_segmenting() { segmenting_ = false; }
  const Work& current() const { return at(started_ - 1); }
  std::uint16_t current_index() const { return index(started_ - 1); }
  bool has_unsent() const { return segmenting_ || started_ != posted_; }

  const Work& operator[](std::uint16_t i) const { return ring_[i]; }

  // Execution, as the peer's Transport ACKs tell.
  std::uint64_t executed() const { return executed_; }
  std::uint64_t whole() const { return segmenting_ ? started_ - 1 : started_; }  // messages sent to their end
  bool awaiting() const { return executed_ < started_; }
  const Work& oldest_awaiting() const { return at(executed_); }
  void execute() {
    if (at(executed_).post.has_imm) --imm_started_;
    ++executed_;
  }
  int immediates_in_flight() const { return imm_started_; }

  // Completion, as the caller polls.
  bool fail(WorkStatus s) {
    if (failure_ != WorkStatus::success) return false;
    failure_ = s;
    return true;
  }
  // MRC-REQ-009: in post order, unsignalled work in silence, and after a failure everything is flushed, once
  // each.
  bool poll(Completion& out) {
    while (completed_ < executed_) {
      const Work& w = at(completed_++);
      if (w.post.signaled) return complete(w, WorkStatus::success, out);
    }
    if (failure_ == WorkStatus::success || completed_ == posted_) return false;
    const Work& w = at(completed_);
    executed_ = ++completed_;
    complete(w, failure_, out);
    failure_ = WorkStatus::flushed;  // the first one says why, the rest are flushed
    return true;
  }

  std::size_t bytes() const { return ring_.bytes(); }

 private:
  std::uint16_t index(std::uint64_t n) const { return static_cast<std::uint16_t>(n % ring_.size()); }
  Work& at(std::uint64_t n) { return ring_[n % ring_.size()]; }
  const Work& at(std::uint64_t n) const { return ring_[n % ring_.size()]; }
  static bool complete(const Work& w, WorkStatus status, Completion& out) {
    out = {.wr_id = w.post.wr_id,
           .kind = CompletionKind::send,
           .status = status,
           .tag = w.post.tag,
           .length = w.post.length};
    return true;
  }

  FixedArray<Work> ring_;
  std::uint16_t mtu_;
  std::uint16_t rqmsn_ = 0;
  int imm_started_ = 0;
  bool segmenting_ = false;
  WorkStatus failure_ = WorkStatus::success;
  std::uint64_t posted_ = 0, started_ = 0, executed_ = 0, completed_ = 0;
};

}  // namespace mrc::engine
