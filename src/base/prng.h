// A small deterministic generator (xoshiro256**, seeded by splitmix64). One seed, one sequence, everywhere.
#pragma once

#include <cstdint>

namespace mrc {

class Prng {
 public:
  explicit constexpr Prng(std::uint64_t seed = 0) {
    for (auto& word : state_) word = split_mix(seed);
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, n); n > 0. Multiply-shift: the bias is below 2^-32 for the ranges used here.
  constexpr std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>((next() >> 32) * n >> 32);
  }
  /// Uniform in [low, high].
  constexpr std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + next() % (high - low + 1);
  }
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  constexpr bool chance(double p) { return unit() < p; }

 private:
  static constexpr std::uint64_t rotl(std::uint64_t x, int k) { return x << k | x >> (64 - k); }
  static constexpr std::uint64_t split_mix(std::uint64_t& s) {
    std::uint64_t z = (s += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t state_[4]{};
};

}  // namespace mrc
