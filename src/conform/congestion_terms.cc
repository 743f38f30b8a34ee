// The CC profile behind a check's terms.
#include <algorithm>

#include "conform/device.h"

namespace mrc::conform {

engine::NsccConfig CongestionTerms::profile(std::uint16_t path_mtu) const {
  constexpr double kWindowPerBdp = 1.5;
  engine::LinkFacts link;
  link.base_rtt = Duration(base_rtt);
  link.bits_per_second = static_cast<std::uint64_t>(window / kWindowPerBdp * 8e9 / std::max(base_rtt, 1u));
  link.mtu = engine::cc_bytes_max(path_mtu);
  engine::NsccConfig config = engine::default_nscc(link);
  config.max_cwnd = window;  // whatever rounding made of it
  return config;
}

}  // namespace mrc::conform
