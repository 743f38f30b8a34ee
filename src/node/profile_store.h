// The profiles of a node's device, for controllers, for the QPs of every process, and for whoever follows
// events.
//
// One interface, two implementations: LocalProfiles in this process, and the daemon's proxy where a daemon
// runs.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "node/ev_event_queue.h"
#include "node/profile_types.h"

namespace mrc::node {

/// One path of a QP: its name on the wire, and the bits that the switches read where the format has more
/// than 32.
struct ResolvedEv {
  Ev ev;
  PortId port;
  EvBits wire{};
  bool denied = false;
};

/// An ONLINE EV profile as a QP takes it: slot i of the QP is evs[i].
struct EvSet {
  std::vector<ResolvedEv> evs;
  std::uint32_t min_active = 1;
  FormatMode format = FormatMode::stev;
};

/// Told, with no lock held, when the controller changes EVs that QPs may be using.
class ProfileListener {
 public:
  virtual void on_ev_denied(std::uint64_t profile, std::uint32_t slot, bool denied) = 0;

 protected:
  ~ProfileListener() = default;
};

class ProfileStore {
 public:
  virtual ~ProfileStore() = default;

  virtual const ProfileLimits& limits() const = 0;
  virtual std::uint32_t free_evs() const = 0;

  // For controllers. Ids are theirs to choose, except 0; a profile in INIT takes no place.
  virtual int modify_format(std::uint64_t id, const FormatChange& change) = 0;
  virtual Outcome modify_ev(std::uint64_t id, const EvChange& change) = 0;
  virtual int modify_cc(std::uint64_t id, const CcChange& change) = 0;
  virtual FormatProfile format(std::uint64_t id) const = 0;
  virtual EvProfile ev(std::uint64_t id) const = 0;
  virtual CcProfile cc(std::uint64_t id) const = 0;
  /// The same for who must know whether it is the store that says so. EAGAIN: the store is away.
  virtual Result<std::uint32_t> ask_free_evs() const { return free_evs(); }
  virtual Result<FormatProfile> ask_format(std::uint64_t id) const { return format(id); }
  virtual Result<EvProfile> ask_ev(std::uint64_t id) const { return ev(id); }
  virtual Result<CcProfile> ask_cc(std::uint64_t id) const { return cc(id); }

  // For QPs: a profile that is ONLINE, until it is released. EINVAL when it is not.
  virtual Result<EvSet> acquire_ev(std::uint64_t id) = 0;
  virtual void release_ev(std::uint64_t id) = 0;
  virtual Result<engine::CcProfile> acquire_cc(std::uint64_t id) = 0;
  virtual void release_cc(std::uint64_t id) = 0;
  /// A QP took this EV for bad, or no longer does. Each "bad" is followed by one "good" before the QP
  /// releases.
  virtual void report_ev(std::uint64_t id, std::uint32_t slot, bool bad) = 0;

  virtual void listen(ProfileListener* listener) = 0;
  virtual void unlisten(ProfileListener* listener) = 0;
  virtual void subscribe(EvEventQueue* queue) = 0;
  virtual void unsubscribe(EvEventQueue* queue) = 0;
};

}  // namespace mrc::node
