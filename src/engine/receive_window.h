// Which PSNs have arrived: a cumulative PSN, a bitmap of the window beyond it, and where messages end.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "base/fixed_array.h"
#include "base/psn.h"

namespace mrc::engine {

class ReceiveWindow {
 public:
  /// Accepts PSNs in (cack, cack + span]; `first` is the first PSN of the peer.
  ReceiveWindow(Psn first, int span);

  Psn cack() const { return cack_; }
  int span() const { return span_; }
  int out_of_order() const { return held_; }            // arrived beyond cack
  std::uint32_t messages() const { return messages_; }  // wholly arrived, all earlier ones too

  bool is_duplicate(Psn p) const {
    return !p.after(cack_) || (in_window(p, cack_, span_) && get(arrived_, p));
  }
  bool accepts(Psn p) const { return in_window(p, cack_, span_); }

  /// REQUIRES accepts(p) and not a duplicate. Advances cack over everything that is now contiguous.
  void note(Psn p, bool ends_message);

  /// A 64-PSN view for a SACK, as an offset from cack. Views alternate between the lowest hole and the parts
  /// that changed since they were last reported, so both are known to the requestor soon.
  struct View {
    std::int16_t offset = 1;
    std::uint64_t bits = 0;
  };
  View next_view();
  View lowest_view() const { return {1, bits_from(cack_ + 1)}; }

  std::size_t bytes() const { return arrived_.bytes() + ends_.bytes() + changed_.bytes(); }

 private:
  using Words = FixedArray<std::uint64_t>;
  std::uint32_t place(Psn p) const {
    return p.value() & (static_cast<std::uint32_t>(arrived_.size()) * 64 - 1);
  }
  bool get(const Words& w, Psn p) const { return (w[place(p) / 64] >> place(p) % 64 & 1) != 0; }
  void put(Words& w, Psn p) { w[place(p) / 64] |= std::uint64_t{1} << place(p) % 64; }
  void clear(Words& w, Psn p) { w[place(p) / 64] &= ~(std::uint64_t{1} << place(p) % 64); }
  std::uint64_t bits_from(Psn p) const;
  std::optional<Psn> next_worth_telling();

  Words arrived_, ends_;
  Words changed_;  // one bit per word of arrived_
  Psn cack_;
  Psn highest_;
  Psn sweep_;  // where the search for changes goes on
  int span_;
  int held_ = 0;
  std::uint32_t messages_ = 0;
  bool lowest_next_ = true;
};

}  // namespace mrc::engine
