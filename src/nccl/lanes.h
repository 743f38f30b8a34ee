// NCCL puts two channels on a network device, and two channels that share a thread move less than one alone:
// so two devices of ours, each with its thread, are lanes of one that NCCL sees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mrc::nccl {

inline constexpr std::size_t kLanes = 2;

/// Which of `devices` are the lanes of which adapter, when `named` of them stand one after the other, as
/// often as there are threads.
std::vector<std::vector<std::size_t>> lanes_of(std::size_t devices, std::size_t named);

/// A GUID for each adapter: NCCL takes two that are the same for one chip whose rate they share. Those of
/// neighbouring ports often follow each other, so the number goes where every EUI-64 of a MAC has the same
/// byte.
constexpr std::uint64_t guid_of(std::uint64_t device, std::size_t adapter) {
  return device ^ std::uint64_t{adapter & 0xFF} << 32;
}

}  // namespace mrc::nccl
