#include "topo/limits.h"

#include <bit>
#include <cerrno>
#include <vector>

#include "topo/ev.h"
#include "topo/usid.h"

namespace mrc::topo {
namespace {

using Complaint = std::string;  // empty: none
using std::to_string;
using Count = std::uint64_t;

constexpr Count kMaxLinks = Count{1} << 31;  // a Hop's index has 32 bits
constexpr std::uint64_t kMinRate = 1'000'000;
constexpr std::uint64_t kMaxRate = 100'000'000'000'000;
constexpr Duration kMaxDelay{1'000'000'000};

Complaint check_counts(const Spec& s) {
  if (s.planes < 1 || s.planes > kMaxPorts)
    return "planes = " + to_string(s.planes) + ": a NIC has 1 to " + to_string(kMaxPorts) +
           " ports, one per plane";
  if (s.tiers < 1 || s.tiers > 3) return "tiers = " + to_string(s.tiers) + ": 1, 2 or 3 can be built";
  if (s.hosts_per_t0 < 1) return "hosts_per_t0 = 0: a T0 needs at least one host";
  if (s.t0 < 1) return "t0 = 0: a pod needs at least one T0";
  if (s.pods < 1) return "pods = 0: a fabric has at least one pod";
  if (s.tiers == 1 && (s.t0 != 1 || s.pods != 1))
    return "one tier joins nothing above a T0: set t0 = 1 and pods = 1, or tiers = 2";
  if (s.tiers == 2 && s.pods != 1) return "two tiers make one pod: set pods = 1, or tiers = 3 to join pods";
  if (s.tiers >= 2 && s.t1 < 1) return "t1 = 0: with two tiers and more a pod needs at least one T1";
  if (s.tiers == 3 && s.t2 < 1) return "t2 = 0: with three tiers a T1 needs at least one uplink";
  return {};
}

Complaint check_tier_names(const UsidPlan& plan, Tier tier, Count count, const char* what,
                           std::uint32_t planes) {
  if (count <= plan.capacity(tier)) return {};
  return to_string(count) + " " + what + " do not fit 16-bit uSIDs: " + to_string(planes) +
         " plane(s) leave " + to_string(plan.index_bits(tier)) + " bits, so at most " +
         to_string(plan.capacity(tier)) + "; use fewer planes or fewer " + what;
}

Complaint check_usids(const Spec& s) {
  const UsidPlan plan(s.planes);
  if (auto c = check_tier_names(plan, Tier::host, s.hosts_per_t0, "hosts per T0", s.planes); !c.empty())
    return c;
  if (auto c = check_tier_names(plan, Tier::t0, Count{s.pods} * s.t0, "T0s per plane", s.planes); !c.empty())
    return c;
  if (auto c = check_tier_names(plan, Tier::t1, Count{s.pods} * s.t1, "T1s per plane", s.planes); !c.empty())
    return c;
  return check_tier_names(plan, Tier::t2, Count{s.t1} * s.t2, "T2s per plane", s.planes);
}

Complaint check_radix(const char* tier, Count down, Count up, std::uint32_t radix, const char* remedy) {
  if (radix == 0 || down + up <= radix) return {};
  return std::string("a ") + tier + " needs " + to_string(down + up) + " ports (" + to_string(down) +
         " down, " + to_string(up) + " up) and radix = " + to_string(radix) + "; " + remedy;
}

Complaint check_radices(const Spec& s) {
  const std::string half = to_string(s.radix / 2);
  const std::string t0 = "hosts_per_t0 = " + half + " and t1 = " + half + " would fit";
  if (auto c = check_radix("T0", s.hosts_per_t0, s.t1, s.radix, t0.c_str()); !c.empty()) return c;
  const std::string t1 = s.tiers == 3 ? "t0 = " + half + " and t2 = " + half + " would fit"
                                      : "t0 = " + to_string(s.radix) + " would fit, or tiers = 3";
  if (s.tiers >= 2) {
    if (auto c = check_radix("T1", s.t0, s.t2, s.radix, t1.c_str()); !c.empty()) return c;
  }
  const std::string t2 = "pods = " + to_string(s.radix) + " would fit";
  return s.tiers == 3 ? check_radix("T2", s.pods, 0, s.radix, t2.c_str()) : Complaint{};
}

Complaint check_hosts(const Spec& s) {
  const Count room = Count{s.pods} * s.t0 * s.hosts_per_t0;
  if (s.hosts <= room) return {};
  return "hosts = " + to_string(s.hosts) + ", and " + to_string(s.pods * s.t0) + " T0s with " +
         to_string(s.hosts_per_t0) + " downlinks have room for " + to_string(room) +
         "; raise t0 or hosts_per_t0";
}

Complaint check_size(const Spec& s) {
  const Count hosts = Count{s.pods} * s.t0 * s.hosts_per_t0;
  const Count links = s.planes * (hosts + Count{s.pods} * s.t0 * s.t1 + Count{s.pods} * s.t1 * s.t2);
  if (links > kMaxLinks)
    return to_string(links) + " links: at most " + to_string(kMaxLinks) + " can be numbered";
  const auto bits = [](std::uint32_t n) { return n <= 1 ? 0 : std::bit_width(n - 1); };
  const int ev_bits = bits(s.planes) + bits(s.t1) + bits(s.t2);
  if (ev_bits > kMaxPathBits)
    return "an EV would need " + to_string(ev_bits) + " bits for plane and uplinks, and has " +
           to_string(kMaxPathBits) + "; use fewer planes, t1 or t2";
  return {};
}

Complaint check_link(const char* name, const LinkSpec& l) {
  const std::string what = std::string("links.") + name;
  if (l.bits_per_second < kMinRate || l.bits_per_second > kMaxRate)
    return what + ".rate = " + rate_text(l.bits_per_second) + ": 1M to 100T bits per second can be modelled";
  if (l.delay < Duration{0} || l.delay > kMaxDelay)
    return what + ".delay = " + delay_text(l.delay) + ": 0ns to 1s can be modelled";
  return {};
}

Complaint check_links(const Spec& s) {
  if (auto c = check_link("host", s.host_link); !c.empty()) return c;
  if (auto c = check_link("t0_t1", s.t0_t1); !c.empty()) return c;
  if (auto c = check_link("t1_t2", s.t1_t2); !c.empty()) return c;
  if (s.switch_delay < Duration{0} || s.switch_delay > kMaxDelay)
    return "switch_delay = " + delay_text(s.switch_delay) + ": 0ns to 1s can be modelled";
  return {};
}

Complaint check_addresses(const Spec& s) {
  const int bits = s.locator.length;
  if (bits != 32 && bits != 48 && bits != 16 && bits != 64)
    return "locator " + to_string(s.locator) +
           ": a length of 16, 32, 48 or 64 bits leaves whole uSIDs; 32 is usual";
  const int per_carrier = (128 - bits) / 16;
  const int needed = s.tiers == 1 ? 2 : s.tiers == 2 ? 4 : 6;
  if (needed > 2 * per_carrier)
    return "a path of " + to_string(needed) + " uSIDs needs more than two carriers of " +
           to_string(per_carrier) + "; use a locator of 32 bits";
  if (s.host_prefix.length > 32)
    return "hosts " + to_string(s.host_prefix) + ": at most 32 bits, so that plane and T0 fit before the /64";
  if (s.host_prefix.contains(s.locator.address) || s.locator.contains(s.host_prefix.address))
    return "locator " + to_string(s.locator) + " and host prefix " + to_string(s.host_prefix) +
           " overlap; a uSID could be taken for a NIC address";
  return {};
}

Spec with_defaults(Spec s) {
  if (s.tiers < 3) s.t2 = 0;
  if (s.tiers < 2) s.t1 = 0;
  if (s.hosts == 0) s.hosts = s.pods * s.t0 * s.hosts_per_t0;
  return s;
}

}  // namespace

Result<Spec> check(const Spec& given) {
  if (auto c = check_counts(given); !c.empty()) return Error{EINVAL, c};
  Spec s = given;
  if (s.tiers < 3) s.t2 = 0;
  if (s.tiers < 2) s.t1 = 0;
  for (auto* checker : {check_usids, check_radices, check_hosts, check_size, check_links, check_addresses}) {
    if (auto c = checker(s); !c.empty()) return Error{EINVAL, c};
  }
  return with_defaults(s);
}

}  // namespace mrc::topo
