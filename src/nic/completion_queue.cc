#include "nic/completion_queue.h"

#include <bit>

namespace mrc::nic {

CompletionQueue::CompletionQueue(std::uint32_t capacity, void* the_owner)
    : owner(the_owner),
      capacity_(capacity),
      mask_(std::bit_ceil(capacity == 0 ? 1u : capacity) - 1),
      slots_(std::make_unique<Cqe[]>(std::size_t{mask_} + 1)) {}

CompletionQueue::Push CompletionQueue::push(const Cqe& entry, bool solicited) {
  const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
  // MRC-NIC-003: a full completion queue is reported, never passed over in silence.
  if (overrun() || tail - head_.load(std::memory_order_acquire) >= capacity_) {
    overrun_.store(true, std::memory_order_relaxed);
    return Push::overrun;
  }
  slots_[tail & mask_] = entry;
  // Sequentially consistent on both sides (here and in arm): either the waiter sees the entry, or we see the
  // waiter.
  tail_.store(tail + 1, std::memory_order_seq_cst);
  const std::uint8_t armed = armed_.load(std::memory_order_seq_cst);
  if (armed == kIdle || (armed == kSolicited && !solicited)) return Push::quiet;
  return armed_.exchange(kIdle) == kIdle ? Push::quiet : Push::notify;
}

std::size_t CompletionQueue::poll(std::span<Cqe> out) {
  const std::uint32_t head = head_.load(std::memory_order_relaxed);
  const std::uint32_t ready = tail_.load(std::memory_order_acquire) - head;
  const std::size_t n = ready < out.size() ? ready : out.size();
  for (std::size_t i = 0; i < n; ++i) out[i] = slots_[(head + i) & mask_];
  if (n != 0) head_.store(head + static_cast<std::uint32_t>(n), std::memory_order_release);
  return n;
}

void CompletionQueue::arm(bool solicited_only) {
  std::uint8_t before = armed_.load();
  const std::uint8_t wanted = solicited_only ? kSolicited : kAny;
  while (before < wanted && !armed_.compare_exchange_weak(before, wanted)) continue;  // the wider wish stays
}

void CompletionQueue::purge(Qpn qpn) {
  const std::uint32_t head = head_.load();
  const std::uint32_t tail = tail_.load();
  std::uint32_t to = head;
  for (std::uint32_t at = head; at != tail; ++at) {
    if (slots_[at & mask_].qpn != qpn) slots_[to++ & mask_] = slots_[at & mask_];
  }
  tail_.store(to);
}

bool CompletionQueue::resize(std::uint32_t capacity) {
  const std::uint32_t head = head_.load();
  const std::uint32_t waiting = tail_.load() - head;
  if (waiting > capacity) return false;
  const std::uint32_t mask = std::bit_ceil(capacity == 0 ? 1u : capacity) - 1;
  auto slots = std::make_unique<Cqe[]>(std::size_t{mask} + 1);
  for (std::uint32_t i = 0; i < waiting; ++i) slots[(head + i) & mask] = slots_[(head + i) & mask_];
  slots_ = std::move(slots);
  mask_ = mask;
  capacity_ = capacity;
  return true;
}

}  // namespace mrc::nic
