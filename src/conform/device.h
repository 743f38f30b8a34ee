// The hand on the device under test: what a tester needs of it beside packets.
//
// The wire shows what a device sends. It can't make the device post work, nor tell what completed there or
// what its memory holds: that goes through whoever controls it. Checks ask for the abilities that they need
// and are skipped where a device has no such hand.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/psn.h"
#include "base/result.h"
#include "engine/nscc_config.h"
#include "engine/types.h"

namespace mrc::conform {

/// Congestion control that a check asks for: "uet-1.0-nscc" with this maximum window and base RTT, and what
/// the published defaults make of them.
struct CongestionTerms {
  std::uint32_t window = 0;    // bytes; 0: no window but MPR
  std::uint32_t base_rtt = 0;  // ns

  engine::NsccConfig profile(std::uint16_t path_mtu) const;
};

/// What the tester tells the device about its own end, and asks of the QP that meets it.
struct Terms {
  Qpn qpn{0x1234};
  Psn psn{0xFFFFF0};  // our first one: soon past the wrap, which every device must get right
  std::uint16_t mtu = 256;
  std::uint8_t mpr = 8;         // units of 128 PSNs that we accept
  std::uint16_t max_wimm = 32;  // immediates in flight that we accept
  std::uint8_t timeout = 20;    // 1.024 us * 2^t: a second, so that timeouts don't disturb what is looked at
  std::uint8_t linear_retries = 2, exponential_retries = 2;
  std::uint16_t receives = 64;  // posted for our immediates before we begin
  bool controlled = false;      // with EVs that Device::deny can name
  CongestionTerms congestion;
};

/// What the device tells the tester.
struct Target {
  Qpn qpn;
  Psn psn;  // its first one
  RKey rkey;
  std::uint64_t va = 0;  // of memory that may be written
  std::uint32_t length = 0;
  std::uint16_t mtu = 256;
  std::uint8_t mpr = 8;
  std::uint16_t max_wimm = 32;
};

struct Abilities {
  bool fresh = false;  // a new QP for each check
  bool post = false;   // writes on demand
  bool completions = false;
  bool memory = false;      // reads back what was placed
  bool deny = false;        // a controller's word on an EV
  bool congestion = false;  // CC profiles of our choice
};

struct PostedWrite {
  std::uint64_t id = 0;
  std::uint32_t length = 0;
  bool has_imm = false;
  std::uint32_t imm = 0;
};

struct Completed {
  std::uint64_t id = 0;
  bool receive = false;
  engine::WorkStatus status = engine::WorkStatus::success;
  bool has_imm = false;
  std::uint32_t imm = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual Abilities abilities() const = 0;
  /// A QP in RTS that expects us. The one before is gone.
  virtual Result<Target> connect(const Terms& terms) = 0;
  /// Writes to address 0x10000 with key 0x77: the tester's memory is a fiction that only the checks look at.
  virtual Status post(const std::vector<PostedWrite>&) { return unable(); }
  /// What completed since the last call.
  virtual Result<std::vector<Completed>> completions() { return unable(); }
  virtual Result<std::vector<std::uint8_t>> memory(std::uint32_t, std::uint32_t) { return unable(); }
  virtual Status deny(Ev) { return unable(); }

 protected:
  static Error unable();
};

inline constexpr std::uint64_t kTesterVa = 0x10000;
inline constexpr RKey kTesterKey{0x77};

}  // namespace mrc::conform
