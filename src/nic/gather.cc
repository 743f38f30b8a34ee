#include "nic/gather.h"

#include <algorithm>
#include <cstring>

namespace mrc::nic {

Gather::Gather(std::uint16_t depth, std::uint8_t max_sge, std::uint16_t max_inline)
    : max_sge_(max_sge),
      max_inline_(max_inline),
      entries_(max_sge == 0 ? 0 : depth),
      sges_(std::size_t{depth} * max_sge),
      inline_(std::size_t{depth} * max_inline) {}

void Gather::store(std::uint16_t work, std::span<const Sge> sges) {
  if (!keeps()) return;
  entries_[work] = {0, static_cast<std::uint8_t>(sges.size()), false};
  std::copy(sges.begin(), sges.end(), &sges_[std::size_t{work} * max_sge_]);
}

void Gather::store_inline(std::uint16_t work, std::span<const Sge> sges) {
  if (!keeps()) return;
  std::size_t at = 0;
  for (const Sge& sge : sges) {
    if (sge.length == 0) continue;
    std::memcpy(&inline_[std::size_t{work} * max_inline_ + at], reinterpret_cast<const void*>(sge.va),
                sge.length);
    at += sge.length;
  }
  entries_[work] = {static_cast<std::uint16_t>(at), 0, true};
}

bool Gather::resolve(const RegionTable& regions, PdId pd, std::uint16_t work, std::uint32_t offset,
                     std::uint32_t length, Payload& out) const {
  out.count = 0;
  if (!keeps() || length == 0) return true;
  const Entry& entry = entries_[work];
  if (entry.is_inline) {
    out.pieces[out.count++] = Piece(&inline_[std::size_t{work} * max_inline_ + offset], length);
    return true;
  }
  for (std::size_t i = 0; i < entry.sges && length > 0; ++i) {
    const Sge& sge = sges_[std::size_t{work} * max_sge_ + i];
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const std::uint32_t take = std::min(length, sge.length - offset);
    std::byte* place = nullptr;
    // MRC-NIC-004: local keys hold when the packet leaves, not only when the work was posted.
    if (regions.check_local(pd, sge.lkey, sge.va + offset, take, place) != RegionTable::Access::ok)
      return false;
    if (place != nullptr) out.pieces[out.count++] = Piece(place, take);
    length -= take;
    offset = 0;
  }
  return length == 0;
}

}  // namespace mrc::nic
