#include "engine/receive_window.h"

namespace mrc::engine {

ReceiveWindow::ReceiveWindow(Psn first, int span)
    : arrived_(std::bit_ceil(static_cast<unsigned>(span)) / 64),
      ends_(arrived_.size()),
      changed_((arrived_.size() + 63) / 64),
      cack_(first - 1),
      highest_(first - 1),
      sweep_(first),
      span_(span) {}

void ReceiveWindow::note(Psn p, bool ends_message) {
  if (p.after(highest_)) highest_ = p;
  put(arrived_, p);
  if (ends_message) put(ends_, p);
  const std::uint32_t word = place(p) / 64;
  changed_[word / 64] |= std::uint64_t{1} << word % 64;
  ++held_;
  for (Psn n = cack_ + 1; held_ > 0 && get(arrived_, n); n = cack_ + 1) {
    cack_ = n;
    --held_;
    if (get(ends_, n)) ++messages_;
    clear(arrived_, n);
    clear(ends_, n);
  }
}

std::uint64_t ReceiveWindow::bits_from(Psn p) const {
  const std::uint32_t at = place(p), shift = at % 64;
  const std::size_t word = at / 64, next = (word + 1) % arrived_.size();
  std::uint64_t bits = arrived_[word] >> shift;
  if (shift != 0) bits |= arrived_[next] << (64 - shift);
  // Bits past the window belong to PSNs that share a place with the window's beginning.
  const int beyond = (p + 63) - (cack_ + span_);
  return beyond <= 0 ? bits : bits << beyond >> beyond;
}

/// The next 64 PSNs that the requestor has something to learn from: news, or a hole that is still a hole.
std::optional<Psn> ReceiveWindow::next_worth_telling() {
  const Psn low = cack_ + 65;  // the lowest view covers the 64 before
  if (sweep_.before(low) || sweep_.after(highest_)) sweep_ = low;
  for (int steps = span_ / 64 + 1; steps > 0; --steps) {
    const std::uint32_t word = place(sweep_) / 64;
    const Psn start = sweep_ - static_cast<std::int32_t>(place(sweep_) % 64);
    std::uint64_t& flags = changed_[word / 64];
    const std::uint64_t flag = std::uint64_t{1} << word % 64;
    sweep_ = start + 64;
    if (sweep_.after(highest_)) sweep_ = low;
    if ((flags & flag) == 0 && arrived_[word] == ~std::uint64_t{0}) continue;
    flags &= ~flag;
    return start.after(cack_) ? start : cack_ + 1;
  }
  return std::nullopt;
}

// MRC-RSP-006: with more than 64 PSNs open, every second SACK shows the lowest hole; the others sweep the
// rest of the window, since a hole counts as a loss only where a report shows it. The newest arrival is the
// SACK's trigger anyway.
ReceiveWindow::View ReceiveWindow::next_view() {
  lowest_next_ = !lowest_next_;
  if (!lowest_next_ && highest_ - cack_ > 64) {
    if (const auto from = next_worth_telling())
      return {static_cast<std::int16_t>(*from - cack_), bits_from(*from)};
  }
  return lowest_view();
}

}  // namespace mrc::engine
