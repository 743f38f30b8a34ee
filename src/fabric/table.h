// A static forwarding table: ranges of keys to ports. Structured uSIDs make a switch of 512 ports two or
// three rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mrc::fabric {

/// Keys first .. first+count-1; each port takes `per_port` of them in turn, from `port` on.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t count = 1;
  std::uint32_t per_port = 1;
  std::uint16_t port = 0;
  bool operator==(const Range&) const = default;
};

class Table {
 public:
  Table() = default;
  /// Any order. Ranges that overlap are a mistake of the plan: the later one wins where they do, as in a
  /// routing table that is written entry by entry.
  explicit Table(const std::vector<Range>& ranges);

  std::optional<std::uint16_t> find(std::uint32_t key) const {
    std::size_t low = 0, high = ranges_.size();
    while (low < high) {  // the first range that begins after the key
      const std::size_t middle = (low + high) / 2;
      (ranges_[middle].first <= key ? low : high) = ranges_[middle].first <= key ? middle + 1 : middle;
    }
    if (low == 0) return std::nullopt;
    const Range& r = ranges_[low - 1];
    const std::uint32_t offset = key - r.first;
    if (offset >= r.count) return std::nullopt;
    return static_cast<std::uint16_t>(r.port + (r.per_port == 1 ? offset : offset / r.per_port));
  }
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;  // sorted by first, disjoint
};

}  // namespace mrc::fabric
