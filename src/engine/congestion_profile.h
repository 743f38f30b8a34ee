// A CC profile as the engine takes it: which algorithm, with which parameters; and the controller made from
// it.
#pragma once

#include <memory>
#include <optional>

#include "engine/congestion.h"
#include "engine/nscc_config.h"

namespace mrc::engine {

enum class CcAlgorithm : std::uint8_t { off, nscc, constant };

inline constexpr const char* kNsccName = "uet-1.0-nscc";
inline constexpr const char* kConstantName = "constant";  // window: max_cwnd

/// The API's name of an algorithm; NULL is congestion control off, and an unknown name is nothing.
std::optional<CcAlgorithm> cc_algorithm(const char* name);
/// The other way round.
const char* cc_name(CcAlgorithm algorithm);

struct CcProfile {
  CcAlgorithm algorithm = CcAlgorithm::nscc;
  NsccConfig nscc;

  /// Default NSCC for a link: what a QP without a profile gets.
  static CcProfile defaults(const LinkFacts& link) { return {CcAlgorithm::nscc, default_nscc(link)}; }
};

/// One controller, for one destination. EINVAL when the profile's parameters make no sense.
/// The only allocation of a controller's life.
Result<std::unique_ptr<Congestion>> make_congestion(const CcProfile& profile,
                                                    const CongestionHints& hints = {},
                                                    std::uint32_t seed = 1);

}  // namespace mrc::engine
