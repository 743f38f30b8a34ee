// A completion queue: a ring of fixed size that never loses an entry without saying so.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/ids.h"
#include "engine/types.h"

namespace mrc::nic {

/// One completion as the application sees it.
struct Cqe {
  std::uint64_t wr_id = 0;
  Qpn qpn;
  std::uint32_t length = 0;
  std::uint32_t imm = 0;
  engine::CompletionKind kind = engine::CompletionKind::send;
  engine::WorkStatus status = engine::WorkStatus::success;
  bool has_imm = false;
  std::uint8_t tag = 0;   // SendWork::tag
  void* owner = nullptr;  // of its QP: QpCreate::owner
  bool operator==(const Cqe&) const = default;
};
static_assert(sizeof(Cqe) <= 32);

/// Threads: one producer (the NIC) and one consumer at a time, without a lock between them. Several consumers
/// bring their own lock.
///
/// A waiter arms the queue, polls once more, and then sleeps: what came between is either polled or notified.
class CompletionQueue {
 public:
  explicit CompletionQueue(std::uint32_t capacity, void* owner = nullptr);

  enum class Push : std::uint8_t {
    quiet,    // entered
    notify,   // entered, and somebody armed the queue for it: wake them
    overrun,  // full: the entry is lost, the queue is in error for good
  };
  // producer
  Push push(const Cqe& entry, bool solicited);

  // consumer
  std::size_t poll(std::span<Cqe> out);
  void arm(bool solicited_only);
  bool empty() const {
    return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_acquire);
  }

  bool overrun() const { return overrun_.load(std::memory_order_relaxed); }
  std::uint32_t capacity() const { return capacity_; }

  /// Takes out what a destroyed QP left behind. REQUIRES: neither producer nor consumer is at work.
  void purge(Qpn qpn);
  /// False when more entries wait than would fit. REQUIRES the same.
  bool resize(std::uint32_t capacity);

  void* const owner;

 private:
  enum Armed : std::uint8_t { kIdle, kSolicited, kAny };

  std::uint32_t capacity_;
  std::uint32_t mask_;
  std::unique_ptr<Cqe[]> slots_;
  std::atomic<bool> overrun_{false};
  std::atomic<std::uint8_t> armed_{kIdle};
  alignas(64) std::atomic<std::uint32_t> tail_{0};  // written by the producer
  alignas(64) std::atomic<std::uint32_t> head_{0};  // written by the consumer
};

}  // namespace mrc::nic
