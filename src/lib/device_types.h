// The values that cross the line between the C interfaces (libmrc, verbs) and the software NIC below them.
// Nothing here knows ibv_ or mrc_ types: the two shells translate, and both speak to the same Device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/psn.h"
#include "base/time.h"
#include "engine/congestion.h"
#include "engine/types.h"
#include "node/profile_types.h"
#include "wire/packet.h"

namespace mrc::lib {

using Gid = std::array<std::uint8_t, 16>;  // an IPv6 address, or IPv4 as ::ffff:a.b.c.d; network order

/// What a device promises. The shells check requests against it; the device relies on that.
struct Limits {
  std::uint32_t max_qp = 65536;
  std::uint32_t max_cq = 65536;
  std::uint32_t max_cqe = 1 << 20;  // entries of one CQ
  std::uint32_t max_mr = 1 << 20;
  std::uint32_t max_pd = 65536;
  std::uint32_t max_send_depth = 16384;
  std::uint32_t max_recv_depth = 16384;
  std::uint32_t max_sge = 16;
  std::uint32_t max_inline = 1024;
  std::uint16_t max_wimm = 16384;       // writes with immediate in flight, as requestor
  std::uint16_t max_wimm_dest = 16384;  // as responder
  std::uint8_t max_mpr = 128;           // units of 128 PSNs
  std::uint8_t mpr_resolution = 1;
  std::uint32_t max_qp_hint = 65536;
  bool trim_nack = true;
  bool dynamic_mpr = true;
  bool service_time = true;
};

/// What a process sets for itself and both ends must have alike, or neither hears the other.
struct WireTerms {
  std::uint16_t udp_port = 4791;                    // MRC_UDP_PORT
  bool icrc = true;                                 // MRC_ICRC
  std::uint8_t trimmed = 34, trimmed_lasthop = 36;  // MRC_DSCP
};

enum class GidType : std::uint8_t { roce_v1, roce_v2 };

struct GidEntry {
  Gid gid{};
  GidType type = GidType::roce_v2;
  std::uint32_t interface = 0;  // index
  bool operator==(const GidEntry&) const = default;
};

/// A port as it is now.
struct PortStatus {
  bool admin_enabled = true;      // the controller's word
  bool link_up = false;           // the interface's word
  std::uint32_t link_mtu = 0;     // bytes after the Ethernet header
  std::uint32_t outer_bytes = 0;  // of those, what SRv6 may need for its own headers
  std::uint64_t bits_per_second = 0;
  bool active() const { return admin_enabled && link_up; }
};

/// What remote peers and the QP itself may do to memory.
struct Access {
  bool local_write = false;
  bool remote_write = false;
  bool remote_read = false;  // only for reads that stay on this device
  bool zero_based = false;   // addresses in requests count from the start of the region
  bool operator==(const Access&) const = default;
};

struct Sge {  // without initialisers: arrays of it are on the hot path
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t lkey;
};

enum class SendOp : std::uint8_t {
  write,
  write_imm,
  read,  // only where the QP's peer is a QP of this Device object: copied in memory, never on the wire
};

struct SendRequest {
  std::uint64_t wr_id = 0;
  std::uint64_t remote_va = 0;
  std::uint32_t rkey = 0;
  std::uint32_t imm = 0;  // host order
  SendOp op = SendOp::write;
  bool signaled = true;  // sq_sig_all is already in it
  bool solicited = false;
  bool fence = false;  // starts after every earlier read of this QP
  /// Inline: `inline_data` says that sge addresses are read before post_send returns, whatever their lkeys.
  bool inline_data = false;
  std::span<const Sge> sges;  // read during the call only
};

enum class CompletionOp : std::uint8_t { write, read, receive_imm };

struct WorkCompletion {
  std::uint64_t wr_id = 0;
  Qpn qpn;
  CompletionOp op = CompletionOp::write;  // valid whatever the status
  engine::WorkStatus status = engine::WorkStatus::success;
  std::uint32_t length = 0;
  std::uint32_t imm = 0;  // receive_imm only; host order
};

/// A probe or a Port Status Update to another node's device.
struct EndpointRequest {
  wire::EndpointOp op = wire::EndpointOp::ev_probe;
  Gid from{};  // one of our GIDs
  Gid to{};
  Ev ev;
  node::EvBits wire{};  // SRv6: the bits that switches read
  bool srv6 = false;
  PortId port;
  PortMask port_status;  // of a Port Status Update
  std::uint8_t dscp = 0;
};
struct EndpointAnswer {
  std::size_t request = 0;  // index
  PortId port;              // where the answer arrived
  Duration rtt{};
  bool service_time_out = false;  // the peer took its own holding time out of it
};

/// One plane as a QP knows it.
struct PlaneStatus {
  PortId port;
  bool usable = false;              // our port and the peer's are up, as far as the QP was told
  std::uint16_t evs = 0, good = 0;  // paths of the QP through it; those not withdrawn
};

/// What the QPs of this process have done, also those that are gone.
struct DeviceCounters {
  std::uint64_t packets = 0;  // data packets sent, repairs included
  std::uint64_t repairs = 0;
  std::uint64_t timeouts = 0;  // packets given up for the ACK timeout
  std::uint64_t probes = 0;
  std::uint64_t received = 0;  // data packets
  std::uint64_t duplicates = 0;
  std::uint64_t refused = 0;  // arrivals that were no packet for us, whatever the reason
  std::uint64_t overrun = 0;  // arrivals that the kernel dropped because nobody read them in time
};

/// Everything that modify_qp can set, after validation, as one value; each transition reads what it needs.
struct QpAttributes {
  // to INIT
  PortId port{1};
  bool remote_write = false;
  bool remote_read = false;
  std::uint64_t ev_profile = 0;  // 0: the provider's own set
  std::uint64_t cc_profile = 0;  // 0: default NSCC
  engine::CongestionHints hints;
  // to RTR
  Gid remote_gid{};
  std::uint8_t sgid_index = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;
  Qpn remote_qpn;
  Psn receive_psn;
  std::uint16_t path_mtu = 4096;
  std::uint8_t mpr_dest = engine::kMinMpr;
  std::uint16_t max_wimm_dest = 32;
  bool dynamic_mpr = false;
  bool peer_trim_nack = true;
  bool peer_service_time = true;
  // to RTS
  Psn send_psn;
  std::uint8_t mpr = engine::kMinMpr;
  std::uint16_t max_wimm = 32;
  std::uint8_t timeout = 14;  // 1.024 us * 2^timeout; 0: never, as verbs have it
  std::uint8_t linear_retries = 7;
  std::uint8_t exponential_retries = 7;
};

}  // namespace mrc::lib
