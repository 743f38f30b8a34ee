// The published defaults of NSCC, scaled to a link, and the check of a profile from outside.
#include "engine/nscc_config.h"

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace mrc::engine {

namespace {

constexpr double kReferenceBdp = 150'000;    // bytes: the network that the published constants were found on
constexpr double kReferenceTarget = 12'000;  // ns
constexpr double kWindowPerBdp = 1.5;
constexpr std::uint32_t kMaxWindow = 1u << 30;

std::uint32_t as_u32(double v) { return static_cast<std::uint32_t>(std::clamp(v, 1.0, 4e9)); }

Error fault(const char* what) { return Error{EINVAL, std::string("NSCC profile: ") + what}; }

bool within(float v, float low, float high) { return v >= low && v <= high; }  // false for NaN

Status check_incast(const NsccConfig& c) {
  if (!within(c.incast_gain, 0, 1)) return fault("incast_gain must be 0 to 1");
  if (!within(c.incast_fast, 1, 16)) return fault("incast_fast must be 1 to 16");
  if (!within(c.incast_low, 0.01f, 10)) return fault("incast_low must be 0.01 to 10 targets");
  if (!within(c.incast_step, 0, 10)) return fault("incast_step must be 0 to 10 targets");
  if (!within(c.incast_high, c.incast_low, 10)) return fault("incast_high must be incast_low to 10 targets");
  return Done{};
}

}  // namespace

// MRC-CC-001: defaults scale with a = BDP / 150 kB and b = target / 12 us.
NsccConfig default_nscc(const LinkFacts& link) {
  NsccConfig c;
  const double rtt = static_cast<double>(link.base_rtt.count());
  const double a = link.bdp() / kReferenceBdp;
  const double mtu = link.mtu;
  c.base_rtt = as_u32(rtt);
  c.target_delay = as_u32(rtt * (link.trimming ? 0.75 : 1.0));
  c.max_cwnd = as_u32(std::clamp(kWindowPerBdp * link.bdp(), mtu, double{kMaxWindow}));
  c.fi = static_cast<float>(5 * mtu * a);
  c.fi_scale = static_cast<float>(0.25 * a);
  c.eta = static_cast<float>(0.15 * mtu * a);
  c.qa_threshold = link.trimming ? 0 : 4 * c.target_delay;
  c.qa_on_loss = !link.trimming;
  c.adjust_bytes_threshold = 8 * link.mtu;
  c.adjust_period_threshold = c.base_rtt;
  complete_nscc(c, link.mtu);
  return c;
}

void complete_nscc(NsccConfig& c, std::uint32_t mtu) {
  c.mtu = mtu;
  const double a = c.max_cwnd / kWindowPerBdp / kReferenceBdp;
  const double b = c.target_delay / kReferenceTarget;
  c.proportional = static_cast<float>(4 * mtu * a * b);
}

Status check_nscc(const NsccConfig& c) {
  if (c.base_rtt == 0) return fault("base_rtt must be above 0 ns");
  if (c.target_delay == 0) return fault("target_delay must be above 0 ns");
  if (c.max_cwnd == 0 || c.max_cwnd > kMaxWindow) return fault("max_cwnd must be 1 byte to 1 GiB");
  if (c.qa_gate > 31) return fault("qa_gate must be 0 to 31");
  if (!within(c.eta, 0, 1e9f)) return fault("eta must be 0 to 1e9 bytes");
  if (!within(c.fi, 0, 1e9f)) return fault("fi must be 0 to 1e9 bytes");
  if (!within(c.fi_scale, 0, 1e3f)) return fault("fi_scale must be 0 to 1000");
  if (!within(c.gamma, 0, 1)) return fault("gamma must be 0 to 1");
  if (!within(c.max_md_jump, 0, 1)) return fault("max_md_jump must be 0 to 1");
  if (c.mtu == 0 || c.mtu > 65535) return fault("mtu must be 1 to 65535 bytes");
  if (c.min_share == 0) return fault("min_share must be above 0");
  if (c.least_window == 0) return fault("least_window must be above 0");
  if (!within(c.paced_backoff, 0, 1)) return fault("paced_backoff must be 0 to 1");
  if (!within(c.proportional, 0, 1e9f)) return fault("proportional must be 0 to 1e9 bytes");
  return check_incast(c);
}

}  // namespace mrc::engine
