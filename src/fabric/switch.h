// A switch as a sans-I/O object: a frame in; a frame out of a port at a time, marked, trimmed or dropped.
//
// Contract. receive() decides the egress port and offers the frame to that port's link; poll(port) gives the
// next frame that leaves there. After receive() said that a frame was queued on a port, poll that port: now,
// and again whenever its link's free_at() has come. Frames are the caller's (see fabric/link.h). Nothing here
// allocates, reads a clock or knows about connections. The simulator and `mrc switch` drive this same object.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/prng.h"
#include "fabric/link.h"
#include "fabric/table.h"

namespace mrc::fabric {

/// How a frame finds its port.
enum class Forwarding : std::uint8_t {
  usid,  // SRv6 uN: the carrier says it all; the table is by uSID
  ecmp,  // the table is by destination; what it lacks goes up, by a hash of EV and flow
  ev,    // the same, but up by the EV's own field for this tier
};

/// Uplinks, for the modes that choose one here. `ev_shift` and `ev_bits` are the tier's field in the EV's
/// path bits; an EV's low half has `ev_port_bits` of those, below the fixed top of its source port.
struct Uplinks {
  std::uint16_t first = 0;
  std::uint16_t count = 0;
  std::uint8_t ev_shift = 0;
  std::uint8_t ev_bits = 0;
  std::uint8_t ev_port_bits = 14;
};

/// Priority flow control for baselines: an ingress port with more than `xoff` bytes inside asks its peer to
/// stop data, and to go on below `xon`. 0: off, as in every MRC fabric.
struct PfcSettings {
  std::uint32_t xoff = 0;
  std::uint32_t xon = 0;
};

struct SwitchSettings {
  Forwarding forwarding = Forwarding::usid;
  std::uint16_t usid = 0;  // its own
  Uplinks uplinks;
  std::uint32_t hash_salt = 0;  // so that two tiers do not hash alike
  PfcSettings pfc;
};

enum class Pause : std::uint8_t { none, xoff, xon };

class Switch {
 public:
  Switch(const SwitchSettings& settings, Table table, std::vector<Link> ports);

  struct Received {
    Fate fate = Fate::passed;   // is_gone(fate): dropped, and the frame is the caller's
    Pause pause = Pause::none;  // for the peer at the frame's ingress port
    std::uint16_t port = 0;     // egress; meaningful unless there was no way to one
  };
  Received receive(Frame& f, Prng& random);

  /// The two halves of receive(), for a caller that brings the egress port up to date between them, as one
  /// does that polls a port only when something comes to it.
  struct Route {
    Fate fate = Fate::passed;
    std::uint16_t port = 0;
  };
  Route route(Frame& f) const;
  Received admit(const Route& r, Frame& f, Prng& random);

  struct Departed : Link::Departure {
    Pause pause = Pause::none;  // for the peer at the frame's ingress port
  };
  Departed poll(std::uint16_t port, PsTime now, Prng& random);

  Link& port(std::uint16_t p) { return ports_[p]; }
  const Link& port(std::uint16_t p) const { return ports_[p]; }
  std::uint16_t ports() const { return static_cast<std::uint16_t>(ports_.size()); }
  const SwitchSettings& settings() const { return settings_; }
  const Table& table() const { return table_; }
  /// Frames that came in, by what became of them here.
  std::uint64_t count(Fate f) const { return fates_[static_cast<int>(f)]; }

 private:
  Route route_by_usid(Frame& f) const;
  Route route_by_destination(const Frame& f) const;
  std::uint16_t uplink(const Frame& f) const;
  Pause note_in(const Frame& f);
  Pause note_out(std::uint16_t ingress, std::uint32_t bytes);

  SwitchSettings settings_;
  Table table_;
  std::vector<Link> ports_;
  std::vector<std::uint32_t> inside_;  // bytes by ingress port; empty while PFC is off
  std::vector<bool> stopped_;          // peers that were asked to stop
  std::array<std::uint64_t, kFateCount> fates_{};
};

inline Switch::Received Switch::receive(Frame& f, Prng& random) { return admit(route(f), f, random); }

inline Switch::Received Switch::admit(const Route& r, Frame& f, Prng& random) {
  Received out{r.fate, Pause::none, r.port};
  if (!is_gone(r.fate)) out.fate = ports_[r.port].offer(f, random);
  ++fates_[static_cast<int>(out.fate)];
  if (!inside_.empty() && !is_gone(out.fate)) out.pause = note_in(f);
  return out;
}

inline Switch::Departed Switch::poll(std::uint16_t port, PsTime now, Prng& random) {
  Departed out{ports_[port].poll(now, random), Pause::none};
  if (!inside_.empty() && out.frame != nullptr) out.pause = note_out(out.frame->ingress, out.frame->bytes);
  return out;
}

inline Switch::Route Switch::route(Frame& f) const {
  if (f.hop_limit <= 1) [[unlikely]]
    return {Fate::hop_limit, 0};
  --f.hop_limit;
  return settings_.forwarding == Forwarding::usid ? route_by_usid(f) : route_by_destination(f);
}

// MRC-FAB-014: a switch consumes its own uSID, then looks the next one up in its static table. Should its own
// follow again, it is consumed again: the lookup of the shifted address would lead right back here.
inline Switch::Route Switch::route_by_usid(Frame& f) const {
  std::uint16_t usid = f.usid();
  while (usid == settings_.usid && usid != 0) {
    ++f.usid_at;
    usid = f.usid();
    if (usid == 0 && f.is_spent()) return {Fate::carrier_spent, 0};
  }
  const auto port = table_.find(usid);
  return port ? Route{Fate::passed, *port} : Route{Fate::no_route, 0};
}

}  // namespace mrc::fabric
