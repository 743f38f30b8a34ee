#include "sim/training.h"

#include <algorithm>
#include <cerrno>
#include <string>

namespace mrc::sim {
namespace {

/// What a stage does at one place of its schedule.
struct Pass {
  std::uint32_t microbatch = 0;
  bool backward = false;
};

/// One forward, one backward: a stage runs ahead by as many forwards as there are stages behind it, then
/// alternates.
Pass pass_at(std::uint32_t slot, std::uint32_t stage, const Training& t) {
  const std::uint32_t ahead = std::min(t.microbatches, t.pp - stage - 1);
  if (slot < ahead) return {slot, false};
  const std::uint32_t k = slot - ahead;
  if (k < 2 * (t.microbatches - ahead)) return {k % 2 == 0 ? ahead + k / 2 : k / 2, k % 2 == 1};
  return {t.microbatches - ahead + (k - 2 * (t.microbatches - ahead)), true};
}

class TrainingProgram final : public Program {
 public:
  explicit TrainingProgram(const Training& t) : t_(t) {}
  std::uint32_t ranks() const override { return t_.ranks(); }
  std::uint32_t peers(Rank) const override {
    return 2 + 2 + 2 + t_.ep - 1;
  }  // two rings, two stages, experts

  bool step(Rank rank, std::uint64_t number, Step& out) const override {
    const std::uint64_t passes = 2ull * t_.microbatches;
    const std::uint64_t before = t_.gap > 0;
    const std::uint64_t length = before + passes * kParts + 1;  // and the gradients
    const std::uint64_t iteration = number / length;
    if (iteration >= t_.iterations) return false;
    if (number % length < before) {
      out.kind = iteration > 0 ? StepKind::compute : StepKind::ring_rounds;  // no rounds: nothing
      out.time = t_.gap;
      return true;
    }
    const std::uint64_t at = number % length - before;
    const std::uint64_t base = iteration * (t_.microbatches + 1);
    if (at == passes * kParts) {
      gradients(rank, match(base + t_.microbatches, false, kGradients), out);
      return true;
    }
    const Pass pass = pass_at(static_cast<std::uint32_t>(at / kParts), stage(rank), t_);
    part(rank, pass, static_cast<int>(at % kParts), base + pass.microbatch, out);
    return true;
  }

 private:
  // The parts of a pass, in order; one that a layout lacks is a ring of no rounds.
  enum Part { kReceive, kCompute, kTensor, kDispatch, kCombine, kSend, kParts, kGradients };

  static std::uint32_t match(std::uint64_t microbatch, bool backward, int part) {
    return static_cast<std::uint32_t>((microbatch * 2 + backward) * 8 + static_cast<std::uint64_t>(part));
  }
  std::uint32_t stage(Rank r) const { return r / (t_.tp * t_.dp); }
  std::uint32_t replica(Rank r) const { return r / t_.tp % t_.dp; }

  void part(Rank rank, const Pass& pass, int which, std::uint64_t microbatch, Step& out) const {
    out.kind = StepKind::ring_rounds;
    out.match = match(microbatch, pass.backward, which);
    switch (which) {
      case kReceive:
      case kSend: return handover(rank, pass, which == kSend, match(microbatch, pass.backward, kSend), out);
      case kCompute:
        out.kind = StepKind::compute;
        out.time = pass.backward ? 2 * t_.forward : t_.forward;
        return;
      case kTensor: return ring({rank / t_.tp * t_.tp, 1, t_.tp}, t_.tensor_bytes, out);
      default: return experts(rank, which == kDispatch, microbatch, out);
    }
  }

  void handover(Rank rank, const Pass& pass, bool send, std::uint32_t matching, Step& out) const {
    const bool up = send != pass.backward;  // toward the next stage
    if (t_.activation_bytes == 0 || (up ? stage(rank) + 1 == t_.pp : stage(rank) == 0)) return;
    out.kind = send ? StepKind::send : StepKind::receive;
    out.match = matching;
    out.rounds = 1;
    out.peer = up ? rank + t_.tp * t_.dp : rank - t_.tp * t_.dp;
    out.bytes = t_.activation_bytes;
  }

  static void ring(const Group& group, std::uint64_t bytes, Step& out) {
    if (bytes == 0 || group.size < 2) return;
    out.group = group;
    out.rounds = 2 * (group.size - 1);
    out.bytes = bytes / group.size;
  }

  void experts(Rank rank, bool dispatch, std::uint64_t microbatch, Step& out) const {
    if (t_.ep < 2 || t_.expert_bytes == 0) return;
    out.kind = StepKind::all_to_all;
    const std::uint32_t first_replica = replica(rank) / t_.ep * t_.ep;
    out.group = {(stage(rank) * t_.dp + first_replica) * t_.tp + rank % t_.tp, t_.tp, t_.ep};
    out.bytes = t_.expert_bytes / t_.ep;
    out.rounds = t_.expert_window;
    out.skew = dispatch ? t_.expert_skew : 0;
    out.skew_seed = t_.seed + microbatch;
  }

  void gradients(Rank rank, std::uint32_t matching, Step& out) const {
    out.kind = StepKind::ring_rounds;
    out.match = matching;
    ring({stage(rank) * t_.dp * t_.tp + rank % t_.tp, t_.tp, t_.dp}, t_.gradient_bytes, out);
  }

  Training t_;
};

}  // namespace

Result<std::unique_ptr<Program>> make_training(const Training& t) {
  const auto refuse = [](const std::string& what) { return Error{EINVAL, "training: " + what}; };
  if (t.tp == 0 || t.pp == 0 || t.dp == 0 || t.ep == 0) return refuse("tp, pp, dp and ep are at least 1");
  if (std::uint64_t{t.tp} * t.pp * t.dp > 1u << 24) return refuse("tp x pp x dp is more than 16777216 ranks");
  if (t.ranks() < 2) return refuse("tp x pp x dp is a single rank, which talks to nobody");
  if (t.dp % t.ep != 0) return refuse("ep must divide dp: experts are spread over whole groups of replicas");
  if (t.microbatches == 0 || t.iterations == 0) return refuse("microbatches and iterations are at least 1");
  if (t.expert_window == 0) return refuse("expert_window is at least 1");
  if (t.expert_skew > 100) return refuse("expert_skew is a percentage, 0 to 100");
  return std::unique_ptr<Program>(std::make_unique<TrainingProgram>(t));
}

}  // namespace mrc::sim
