// RETH: 16 bytes in every write packet. The address is that of this packet's own first byte.
#pragma once

#include "base/ids.h"
#include "wire/bytes.h"

namespace mrc::wire {

struct Reth {
  static constexpr std::size_t kSize = 16;
  std::uint64_t va = 0;
  RKey rkey;
  std::uint32_t dma_length = 0;  // of the whole message
  bool operator==(const Reth&) const = default;
};

class RethView : public View<Reth::kSize> {
 public:
  using View::View;
  std::uint64_t va() const { return u64(0); }
  RKey rkey() const { return RKey(u32(8)); }
  std::uint32_t dma_length() const { return u32(12); }
  Reth value() const { return {va(), rkey(), dma_length()}; }
};

inline void emit(const Reth& h, std::uint8_t* out) {
  store64(out, h.va);
  store32(out + 8, h.rkey.value);
  store32(out + 12, h.dma_length);
}

}  // namespace mrc::wire
