#include "fabric/table.h"

#include <algorithm>
#include <map>

namespace mrc::fabric {
namespace {

/// The part of `r` from key `from` up to, not including, `to`. Cut only between ports, or inside one port's
/// keys when both ends fall into it: a range that would need two rows becomes two.
void keep_part(const Range& r, std::uint64_t from, std::uint64_t to, std::vector<Range>& out) {
  while (from < to) {
    const std::uint64_t offset = from - r.first;
    const std::uint64_t into = offset % r.per_port;
    std::uint64_t count = to - from;
    if (into != 0) count = std::min<std::uint64_t>(count, r.per_port - into);
    out.push_back({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(count), r.per_port,
                   static_cast<std::uint16_t>(r.port + offset / r.per_port)});
    from += count;
  }
}

}  // namespace

Table::Table(const std::vector<Range>& given) {
  for (const Range& added : given) {
    if (added.count == 0 || added.per_port == 0) continue;
    const std::uint64_t first = added.first, end = first + added.count;
    std::vector<Range> next;
    for (const Range& r : ranges_) {
      const std::uint64_t r_end = std::uint64_t{r.first} + r.count;
      keep_part(r, r.first, std::min(r_end, std::max<std::uint64_t>(first, r.first)), next);
      keep_part(r, std::max<std::uint64_t>(r.first, std::min(end, r_end)), r_end, next);
    }
    next.push_back(added);
    ranges_ = std::move(next);
  }
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.first < b.first; });
}

}  // namespace mrc::fabric
