// Measures collectives over a mesh and checks what they did.
#pragma once

#include <functional>
#include <vector>

#include "collective/operation.h"

namespace mrc::collective {

struct Plan {
  std::vector<Kind> kinds;
  std::vector<std::size_t> sizes;  // bytes of the buffer
  double seconds = 0.3;            // of each row, about
};

struct Row {
  Kind kind{};
  std::size_t bytes = 0;  // as run: whole blocks
  std::uint32_t runs = 0;
  double seconds = 0;       // of one run
  std::uint64_t wrong = 0;  // values of all ranks
  double bus_gbps = 0;
};

/// What all ranks together found at the end.
struct Account {
  std::uint64_t lame = 0;  // pairs of ranks between which some plane carries nothing, counted from both sides
  std::uint64_t late =
      0;  // ranks that had to wait for a core so long that they may have seemed dead to others
};

/// All ranks run the same plan; rank 0 hears of each row.
Result<Account> run(Mesh& mesh, const Plan& plan, const std::function<void(const Row&)>& tell);

}  // namespace mrc::collective
