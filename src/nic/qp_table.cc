#include "nic/qp_table.h"

#include <bit>

namespace mrc::nic {
namespace {

/// A power of two that leaves each place at least one number.
std::uint32_t places(std::uint32_t capacity, QpnSpan span) {
  const std::uint32_t numbers = span.last.value - span.first.value + 1;
  const std::uint32_t wanted = std::bit_ceil(capacity == 0 ? 1u : capacity);
  return wanted <= numbers ? wanted : std::bit_floor(numbers);
}

}  // namespace

QpTable::QpTable(std::uint32_t capacity, QpnSpan span)
    : span_(span), mask_(places(capacity, span) - 1), cursor_(span.start), slots_(std::size_t{mask_} + 1) {
  for (Slot& slot : slots_) slot.generation = span.start / (mask_ + 1) % generations();
}

Qp* QpTable::create(const QpCreate& create) {
  if (size_ == mask_ + 1) return nullptr;
  while (slots_[cursor_ & mask_].qp != nullptr) ++cursor_;
  const std::uint32_t at = cursor_++ & mask_;
  Slot& slot = slots_[at];
  // MRC-NIC-007: a QP number comes back only after all others of its place have been used.
  const std::uint32_t offset = slot.generation * (mask_ + 1) + at;
  slot.generation = (slot.generation + 1) % generations();
  slot.qp = std::make_unique<Qp>(Qpn(span_.first.value + offset), create);
  ++size_;
  return slot.qp.get();
}

void QpTable::destroy(Qp& qp) {
  slots_[(qp.qpn.value - span_.first.value) & mask_].qp.reset();
  --size_;
}

}  // namespace mrc::nic
