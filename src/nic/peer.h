// A destination: its addresses, the congestion contexts that all QPs toward it share, and what it still has
// to be told.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "engine/congestion.h"
#include "nic/level_queue.h"
#include "nic/list.h"
#include "nic/timer_heap.h"
#include "wire/address.h"

namespace mrc::nic {

using Gid = wire::IpAddress;  // the simulator writes node numbers into it

struct Qp;
struct Peer;
struct PeerTag;
struct AnnounceTag;

/// One congestion controller per destination and CC profile. QPs whose data waits for its window queue here.
struct CongestionContext : Timed {
  CongestionContext(Peer& p, std::uint64_t id, const engine::CongestionHints& h,
                    std::unique_ptr<engine::Congestion> c)
      : Timed(TimedKind::congestion), peer(p), profile(id), hints(h), congestion(std::move(c)) {}

  /// The latest word counts: all QPs toward the destination share what it is about.
  void note_hints(const engine::CongestionHints& said) {
    if (said == hints || said == engine::CongestionHints{}) return;
    hints = said;
    congestion->on_hints(said);
  }

  Peer& peer;
  std::uint64_t profile;
  engine::CongestionHints hints;
  std::unique_ptr<engine::Congestion> congestion;
  WaitingQps waiting;
  std::uint32_t promised = 0;  // of the window, to QPs that were woken and have not sent yet
  const Qp* next = nullptr;    // who was first in `waiting` at the last look: to compare, it may be gone
  bool moved = false;          // somebody who waited went on since the clock was last looked at
  std::uint32_t users = 0;
};

/// A Port Status Update that this peer has not answered yet.
struct Announcement {
  bool open = false;
  bool due = false;  // waits for a port to leave by
  std::uint16_t request = 0;
  std::uint16_t tries = 0;
  std::uint16_t turn = 0;  // which path is next
};

struct Peer : Timed, Link<AnnounceTag> {
  Peer() : Timed(TimedKind::peer) {}

  Gid gid;
  std::vector<Gid> addresses;  // of port 1, 2, ...; a single one serves all ports
  std::uint32_t index = 0;     // small, dense, reused: for whoever keeps something per peer
  std::uint32_t users = 0;
  List<Qp, PeerTag> qps;
  std::vector<std::unique_ptr<CongestionContext>> contexts;
  Announcement announcement;
  PortId doubted{0};               // the plane that a QP gave up last
  Time doubt_again = Time::min();  // and the others are not asked about it before

  const Gid& address(PortId port) const {
    return port.value >= 1 && port.value <= addresses.size() ? addresses[port.value - 1] : addresses.front();
  }
  bool owns(const Gid& source) const {
    for (const Gid& a : addresses) {
      if (a == source) return true;
    }
    return false;
  }
};

class PeerTable {
 public:
  /// The peer with this GID, made on first use. Each acquire() needs a release().
  Peer& acquire(const Gid& gid, std::span<const Gid> addresses);
  /// True when it was the last user: the peer is gone.
  bool release(Peer& peer);
  /// Who sends from this address; nullptr: nobody we know.
  Peer* find(const Gid& source);
  template <class Each>
  void for_each(Each&& each) {
    for (auto& peer : peers_) {
      if (peer != nullptr) each(*peer);
    }
  }
  std::size_t size() const { return peers_.size() - free_.size(); }

 private:
  Peer& make();
  void forget(const Gid& address, const Peer& peer);

  std::vector<std::unique_ptr<Peer>> peers_;  // by index
  std::vector<std::uint32_t> free_;
  std::unordered_map<Gid, Peer*> by_address_;
};

}  // namespace mrc::nic
