// Training steps built of their parts: tensor, pipeline, data and expert parallel groups,
// one-forward-one-backward.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "sim/step.h"

namespace mrc::sim {

/// tp x pp x dp ranks; rank = (stage * dp + replica) * tp + shard. Experts spread over `ep` neighbouring
/// replicas.
struct Training {
  std::uint32_t tp = 1;  // tensor parallel: an all-reduce per microbatch and pass within a stage
  std::uint32_t pp = 1;  // pipeline stages
  std::uint32_t dp = 1;  // data parallel: one all-reduce of the gradients per iteration
  std::uint32_t ep = 1;  // expert parallel, divides dp: dispatch and combine per microbatch and pass
  std::uint32_t microbatches = 4;
  std::uint32_t iterations = 1;
  std::uint64_t activation_bytes = 0;  // from stage to stage, per shard
  std::uint64_t tensor_bytes = 0;      // that a tensor parallel all-reduce works on
  std::uint64_t expert_bytes = 0;      // that a rank dispatches to all experts of its group
  std::uint64_t gradient_bytes = 0;    // that the data parallel all-reduce works on
  std::uint32_t expert_skew = 0;       // percent
  std::uint32_t expert_window = 8;     // sends under way per rank
  Ps forward = 0;                      // compute per microbatch and stage; backward takes twice as long
  Ps gap = 0;                          // compute between iterations
  std::uint64_t seed = 1;

  std::uint32_t ranks() const { return tp * pp * dp; }
  /// Whether any group has something to send.
  bool moves() const {
    return (tp > 1 && tensor_bytes > 0) || (pp > 1 && activation_bytes > 0) ||
           (dp > 1 && gradient_bytes > 0) || (ep > 1 && expert_bytes > 0);
  }
};

Result<std::unique_ptr<Program>> make_training(const Training& training);

}  // namespace mrc::sim
