// What a person says about a fabric: how many of what, how fast, how far, and which addresses.
// Every other fact about the fabric follows from these numbers by arithmetic (topo/topo.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/ipv6.h"
#include "base/result.h"
#include "base/time.h"

namespace mrc::topo {

/// One cable, the same both ways.
struct LinkSpec {
  std::uint64_t bits_per_second = 100'000'000'000;
  Duration delay{500};  // propagation, one way
  bool operator==(const LinkSpec&) const = default;
};

/// A multi-plane Clos. Planes are alike and share no switch; every host has one NIC port in each.
///
/// tiers 1: one T0 per plane, all hosts under it.
/// tiers 2: `t0` T0s, `t1` T1s per plane, one link between each T0 and each T1.
/// tiers 3: `pods` pods, each of `t0` T0s and `t1` T1s wired as above; T1 number g of every pod has `t2`
/// uplinks, one to
///          each T2 of group g. A plane has t1 x t2 T2s, and a T2 has one link to every pod.
struct Spec {
  std::uint32_t planes = 1;
  std::uint32_t tiers = 2;
  std::uint32_t pods = 1;
  std::uint32_t t0 = 2;  // per pod
  std::uint32_t t1 = 2;  // per pod: the uplinks of a T0
  std::uint32_t t2 = 0;  // per group: the uplinks of a T1
  std::uint32_t hosts_per_t0 = 2;
  std::uint32_t hosts = 0;  // 0: every downlink has a host; else hosts 0 .. hosts-1 exist
  std::uint32_t radix = 0;  // ports that a switch has; 0: not checked

  LinkSpec host_link;  // NIC port to T0
  LinkSpec t0_t1;
  LinkSpec t1_t2;
  Duration switch_delay{0};  // a frame's time through a switch, queueing not counted

  Ipv6Prefix locator = *parse_ipv6_prefix("fcbb:bb00::/32");  // 32 bits: 6 uSIDs per carrier; 48: 5
  Ipv6Prefix host_prefix =
      *parse_ipv6_prefix("fd4d:5243::/32");  // NIC addresses: prefix:plane:t0::downlink+1

  bool operator==(const Spec&) const = default;
};

/// Reads the [topology] table of a TOML text; other tables are left to others. `file` names the text in
/// errors, which say the line, what is wrong and what would do. The result is checked for form only:
/// Topology::make checks the rest.
Result<Spec> parse_spec(std::string_view toml, std::string_view file);
Result<Spec> read_spec(const std::string& path);
/// The same numbers as TOML again: parse_spec(to_toml(s)) == s.
std::string to_toml(const Spec& spec);

/// "100G", "2.5G", "40M" bits per second; "500ns", "1us", "2ms".
Result<std::uint64_t> parse_rate(std::string_view text);
Result<Duration> parse_delay(std::string_view text);
std::string rate_text(std::uint64_t bits_per_second);
std::string delay_text(Duration delay);

}  // namespace mrc::topo
