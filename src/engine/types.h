// The nouns of the engine's contract: what is posted, what is sent, what completes, and the limits agreed on.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/time.h"
#include "wire/packet.h"

namespace mrc::engine {

/// PSNs are granted in units of this many (MPR); a QP's window is `mpr` units.
inline constexpr int kMprUnit = 128;
inline constexpr int kMinMpr = 8;

/// One RDMA write as posted. The bytes stay with the caller, who finds them by the work index in Transmit.
struct SendWork {
  std::uint64_t wr_id = 0;
  std::uint64_t remote_va = 0;
  RKey rkey;
  std::uint32_t length = 0;
  std::uint32_t imm = 0;
  bool has_imm = false;
  bool signaled = true;
  bool solicited = false;
  std::uint8_t tag = 0;  // the poster's own; comes back in the completion
};

enum class QpState : std::uint8_t { reset, init, rtr, rts, error };

/// How the specification's scheduler sees the sending side.
enum class SendState : std::uint8_t {
  idle,     // nothing to send
  active,   // data, but the window is shut
  ready,    // data, and the window is open
  pending,  // everything is in flight
};

enum class WorkStatus : std::uint8_t {
  success,
  flushed,
  retry_exceeded,
  remote_access_error,
  remote_invalid_request,
  remote_operation_error,
  local_protection_error,
};

enum class CompletionKind : std::uint8_t { send, receive };

struct Completion {
  std::uint64_t wr_id = 0;
  CompletionKind kind = CompletionKind::send;
  WorkStatus status = WorkStatus::success;
  bool has_imm = false;
  bool solicited = false;
  std::uint8_t tag = 0;  // SendWork::tag
  std::uint32_t imm = 0;
  std::uint32_t length = 0;
};

/// One packet to put on the wire.
struct Transmit {
  wire::Packet packet;
  wire::Envelope envelope;
  EvSlot slot;               // which of the QP's EVs
  std::uint16_t work = 0;    // for a Write: index of the posted work, as returned by post_send
  std::uint32_t offset = 0;  // for a Write: first payload byte within the message
};

/// May this write touch memory? The NIC's region table answers; the engine asks exactly once per placed
/// packet.
class Memory {
 public:
  enum class Access : std::uint8_t { ok, bad_rkey, no_access, out_of_bounds };
  virtual Access check(RKey rkey, std::uint64_t va, std::uint32_t length) = 0;

 protected:
  ~Memory() = default;
};

}  // namespace mrc::engine
