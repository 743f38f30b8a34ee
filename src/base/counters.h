// One number per thing that can happen, indexed by the enum that names the things.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/check.h"

namespace mrc {

/// `Names` is an enum class whose values are 0 .. N-1. Plain numbers: one owner writes, a snapshot is a copy.
template <class Names, std::size_t N>
class Counters {
 public:
  void add(Names name, std::uint64_t n = 1) { at(name) += n; }
  std::uint64_t operator[](Names name) const { return const_cast<Counters*>(this)->at(name); }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t v : values_) sum += v;
    return sum;
  }
  Counters& operator+=(const Counters& o) {
    for (std::size_t i = 0; i < N; ++i) values_[i] += o.values_[i];
    return *this;
  }
  bool operator==(const Counters&) const = default;

 private:
  std::uint64_t& at(Names name) {
    const auto i = static_cast<std::size_t>(name);
    MRC_CHECK(i < N);
    return values_[i];
  }
  std::array<std::uint64_t, N> values_{};
};

}  // namespace mrc
