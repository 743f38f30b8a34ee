#include "nccl/lanes.h"

#include <algorithm>

namespace mrc::nccl {

std::vector<std::vector<std::size_t>> lanes_of(std::size_t devices, std::size_t named) {
  std::vector<std::vector<std::size_t>> adapters;
  if (named == 0) return adapters;
  for (std::size_t first = 0; first < devices; first += named * kLanes) {
    for (std::size_t which = first; which < std::min(devices, first + named); ++which) {
      auto& lanes = adapters.emplace_back();
      for (std::size_t i = which; i < std::min(devices, first + named * kLanes); i += named)
        lanes.push_back(i);
    }
  }
  return adapters;
}

}  // namespace mrc::nccl
