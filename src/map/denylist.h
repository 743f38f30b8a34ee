// From findings to denied EVs: the paths of this host's profiles that meet something broken are denied, and
// allowed again when the finding has gone. A finding goes slowly (Survey), so EVs do not flutter.
//
// It touches only what it denied itself: an operator's denial stays. It never leaves a profile fewer EVs than
// its min_active; dead things come before lossy ones.
#pragma once

#include <map>
#include <vector>

#include "map/survey.h"
#include "node/profile_store.h"

namespace mrc::map {

/// The hops that a packet of this EV crosses, as far as the EV tells: all of them where it is a uSID carrier
/// (SRv6), the way up to the topmost switch where the destination supplies the rest. Empty: not an EV of this
/// fabric.
std::vector<topo::Hop> hops_of(const topo::Topology& topo, HostId host, const node::ResolvedEv& ev,
                               node::FormatMode format);

class Denylist {
 public:
  struct Change {
    std::uint32_t denied = 0, allowed = 0;
    std::uint32_t spared = 0;  // should be denied, but too few would be left
    bool operator==(const Change&) const = default;
  };

  /// `topo` and `store` must outlive it.
  Denylist(const topo::Topology& topo, HostId host, node::ProfileStore& store)
      : topo_(topo), host_(host), store_(store) {}

  /// Brings one profile in line with the findings. Errors of the store (the profile went away) leave it as it
  /// is, to be tried again next time.
  Change apply(std::uint64_t profile, const std::vector<Finding>& findings);

  /// What it has denied of a profile: an operator's denials are not among them.
  const std::vector<node::EvValue>& denied(std::uint64_t profile) { return denied_[profile]; }

 private:
  struct Paths {
    node::EvProfile profile;
    node::EvSet set;
  };
  bool read(std::uint64_t id, Paths& out);
  std::vector<bool> wanted(const Paths& paths, const std::vector<node::EvValue>& mine,
                           const std::vector<Finding>& findings, Change& change) const;

  const topo::Topology& topo_;
  HostId host_;
  node::ProfileStore& store_;
  std::map<std::uint64_t, std::vector<node::EvValue>> denied_;  // by us, by profile
};

}  // namespace mrc::map
