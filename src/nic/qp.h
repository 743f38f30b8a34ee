// One queue pair as the NIC keeps it: the engine's half, and everything that the engine leaves to its caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/queue_pair.h"
#include "nic/completion_queue.h"
#include "nic/gather.h"
#include "nic/list.h"
#include "nic/peer.h"
#include "nic/timer_heap.h"

namespace mrc::nic {

/// An EV profile: the paths of a QP, shared by all that use it.
using PathTable = std::shared_ptr<const std::vector<engine::Path>>;

/// SRv6: what each path's outer header says. One destination address, and for long paths a second carrier in
/// a segment routing header.
struct Carrier {
  wire::IpAddress first;
  std::optional<wire::IpAddress> second;
};
using CarrierTable = std::shared_ptr<const std::vector<Carrier>>;

inline constexpr std::uint8_t kDscpByClass = 0xFF;

/// What a QP is made with. The CQs outlive it.
struct QpCreate {
  PdId pd;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* recv_cq = nullptr;
  std::uint16_t send_depth = 128;
  std::uint16_t recv_depth = 128;
  std::uint8_t max_sge = 1;  // 0: packets without bytes, for the simulator
  std::uint16_t max_inline = 0;
  void* owner = nullptr;  // comes back in events
};

/// Everything that a QP needs to receive, given on the way to RTR.
struct QpConnect {
  Gid peer;
  std::span<const Gid> peer_addresses;  // of its ports 1, 2, ...; empty: `peer` on all of them
  Qpn remote;
  Psn receive_psn;
  std::uint16_t path_mtu = 4096;
  std::uint8_t mpr_dest = engine::kMinMpr;
  std::uint16_t max_wimm_dest = 32;
  bool dynamic_mpr = false;
  bool remote_write = true;  // access flag of the QP itself
  std::uint16_t pkey = 0xFFFF;
  std::uint8_t service_level = 0;    // 0 .. kServiceLevels-1
  std::uint8_t dscp = kDscpByClass;  // of its data packets
  std::uint64_t cc_profile = 0;
  engine::CongestionHints hints;
  PathTable paths;        // null: the NIC's own
  CarrierTable carriers;  // one per path, or null: no outer header
  engine::PathSettings path_settings;
  engine::EventSink* sink = nullptr;  // null: the NIC's own
  engine::ResponderSettings responder;
};

/// And to send, given on the way to RTS.
struct QpSend {
  Psn send_psn;
  std::uint8_t mpr = engine::kMinMpr;
  std::uint16_t max_wimm = 32;
  engine::RequestorSettings requestor;
};

/// What may change while a QP runs.
struct QpAdjust {
  bool remote_write = true;
  std::uint8_t service_level = 0;
  std::uint8_t dscp = kDscpByClass;
  engine::CongestionHints hints;
  engine::RequestorSettings requestor;  // timeout and retries; the rest is as it was at the start
};

struct TouchTag;    // had an input: to be drained
struct ControlTag;  // has control packets to send
struct AskTag;      // a probe: waits until the NIC may send one more
struct WaitTag;     // data: in turn, or waiting for a window or for records

struct Qp : Timed, Link<TouchTag>, Link<ControlTag>, Link<AskTag>, Link<WaitTag>, Link<PeerTag> {
  Qp(Qpn number, const QpCreate& create)
      : Timed(TimedKind::qp),
        qpn(number),
        made(create),
        gather(create.send_depth, create.max_sge, create.max_inline) {}

  Qpn qpn;
  QpCreate made;
  engine::QpState state = engine::QpState::reset;
  std::uint8_t service_level = 0;
  std::uint8_t dscp = kDscpByClass;
  std::uint8_t quantum = 1, spent = 0;  // packets per turn, and of this turn
  bool remote_write = false;
  bool in_turn = false;  // its WaitTag link is in the scheduler
  bool heard = false;    // a packet was accepted
  bool called = false;   // it waited to ask, and it is its turn
  std::uint16_t pkey = 0xFFFF;
  std::uint32_t promised = 0;      // of the congestion window, to this QP whose turn it is
  std::uint32_t packet_bytes = 0;  // the most that one packet takes of the congestion window
  engine::QpLimits limits;
  Peer* peer = nullptr;
  CongestionContext* context = nullptr;
  PathTable paths;
  CarrierTable carriers;
  Gather gather;
  std::vector<std::uint64_t> early_receives;  // posted in INIT, before there is an engine
  std::optional<engine::QueuePair> engine;    // from RTR on

  /// It will be needed soon. With thousands of QPs none stays in the cache from one turn to the next, and a
  /// turn would begin by waiting for memory, line after line.
  void prefetch() const {
    constexpr std::size_t kLine = 64;
    const auto* at = reinterpret_cast<const char*>(this);
    for (std::size_t offset = 0; offset < sizeof(Qp); offset += kLine) __builtin_prefetch(at + offset, 1);
  }
};

}  // namespace mrc::nic
