// From an algorithm's name to a controller.
#include "engine/congestion_profile.h"

#include <string_view>

#include "engine/constant_window.h"
#include "engine/nscc.h"

namespace mrc::engine {

// MRC-CC-021: the algorithm is chosen per profile by name, and NULL switches congestion control off.
std::optional<CcAlgorithm> cc_algorithm(const char* name) {
  if (name == nullptr) return CcAlgorithm::off;
  if (std::string_view(name) == kNsccName) return CcAlgorithm::nscc;
  if (std::string_view(name) == kConstantName) return CcAlgorithm::constant;
  return std::nullopt;
}

const char* cc_name(CcAlgorithm algorithm) {
  switch (algorithm) {
    case CcAlgorithm::nscc: return kNsccName;
    case CcAlgorithm::constant: return kConstantName;
    case CcAlgorithm::off: break;
  }
  return nullptr;
}

Result<std::unique_ptr<Congestion>> make_congestion(const CcProfile& profile, const CongestionHints& hints,
                                                    std::uint32_t seed) {
  using Made = std::unique_ptr<Congestion>;
  switch (profile.algorithm) {
    case CcAlgorithm::off: return Made(std::make_unique<NoCongestionControl>());
    case CcAlgorithm::constant: return Made(std::make_unique<ConstantWindow>(profile.nscc.max_cwnd));
    case CcAlgorithm::nscc: break;
  }
  if (Status ok = check_nscc(profile.nscc); !ok) return ok.error();
  return Made(std::make_unique<Nscc>(profile.nscc, hints, seed));
}

}  // namespace mrc::engine
