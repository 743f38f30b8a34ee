// The nouns of the controller's objects: EV format, EV profile and CC profile, free of C structures and of
// sockets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "engine/congestion_profile.h"

namespace mrc::node {

/// INIT -> OFFLINE -> ONLINE -> OFFLINE -> INIT. A profile that nobody has touched is in INIT.
enum class ProfileState : std::uint8_t { init = 0, offline = 1, online = 2 };

enum class FormatMode : std::uint8_t { stev = 1, srv6 = 2, udp = 4 };
enum class EvMode : std::uint8_t { automatic = 1, explicit_ = 2, generated = 4 };

/// As the controller sees an EV; bits of a mask.
enum class EvState : std::uint32_t { good = 1, assumed_bad = 2, denied = 4, unknown = 0x80000000 };
inline constexpr std::uint32_t kEvStates = 0x80000007;

inline constexpr int kEvBytes = 32;
using EvBits = std::array<std::uint8_t, kEvBytes>;  // a string of bits: the first is the highest of byte 0
using VendorConfig = std::array<std::uint8_t, 128>;

struct EvValue {
  EvBits bits{};
  std::uint8_t port = 0;  // 0 with no bits: a slot that no EV has been written to
  bool operator==(const EvValue&) const = default;
  bool unpopulated() const { return *this == EvValue{}; }
};

/// How one field of the format gets its bits: those under `mask` from the EV, the others from `init`.
struct EvField {
  std::uint32_t width = 0, init = 0, min = 0, max = 0, mask = 0;
  bool operator==(const EvField&) const = default;
};

struct EvSlotState {
  EvValue value;
  bool denied = false;
  std::uint32_t bad_reports = 0;  // QPs that hold it for bad now

  EvState state() const {
    if (value.unpopulated()) return EvState::unknown;
    if (denied) return EvState::denied;
    return bad_reports > 0 ? EvState::assumed_bad : EvState::good;
  }
};

// ---- profiles as they are ----

struct FormatProfile {
  ProfileState state = ProfileState::init;
  std::optional<FormatMode> mode;
  std::vector<std::uint8_t> widths;  // most significant field first
  VendorConfig vendor{};

  std::uint32_t total_width() const;
};

struct EvProfile {
  ProfileState state = ProfileState::init;
  std::optional<EvMode> mode;
  std::uint64_t format = 0;
  std::uint32_t count = 0;
  std::optional<std::uint32_t> min_active;
  std::optional<std::uint32_t> event_mask;
  std::vector<EvField> fields;
  std::vector<EvSlotState> slots;
  VendorConfig vendor{};
  std::uint32_t users = 0;  // QPs
};

struct CcProfile {
  ProfileState state = ProfileState::init;
  std::optional<engine::CcAlgorithm> algorithm;
  std::optional<engine::NsccConfig> config;
  VendorConfig vendor{};
  std::uint32_t users = 0;
};

// ---- what a controller asks for: only what is set is changed ----

struct FormatChange {
  std::optional<ProfileState> state, expected;
  std::optional<FormatMode> mode;
  std::optional<std::vector<std::uint8_t>> widths;
  std::optional<VendorConfig> vendor;
};

struct EvReplace {
  EvValue from, to;
  bool all_copies = false;
};
struct EvSetState {
  EvValue value;
  EvState state = EvState::good;
};

struct EvChange {
  std::optional<ProfileState> state, expected;
  std::optional<EvMode> mode;
  std::optional<std::uint64_t> format;
  std::optional<std::uint32_t> count, min_active, event_mask;
  std::optional<std::vector<EvField>> fields;
  std::vector<EvReplace> replaces;  // at most one of these two and `fields`
  std::vector<EvSetState> states;
  std::optional<VendorConfig> vendor;
};

struct CcChange {
  std::optional<ProfileState> state, expected;
  std::optional<engine::CcAlgorithm> algorithm;
  std::optional<engine::NsccConfig> config;
  std::optional<VendorConfig> vendor;
};

/// 0, or an errno; of an array, which entry it was: those before it took effect.
struct Outcome {
  int error = 0;
  std::uint32_t entry = 0;
};

/// What a node's device can hold. Each is our decision: the specification leaves it to the implementation.
struct ProfileLimits {
  std::uint32_t formats = 64;
  std::uint32_t ev_profiles = 1024;
  std::uint32_t cc_profiles = 64;
  std::uint32_t evs = 1 << 16;  // of all profiles together
  std::uint32_t evs_per_profile = 1024;
  std::uint32_t ev_count_align = 1;
  std::uint32_t op_entries = 1024;  // in one operation
  std::uint32_t format_fields = 32;
  std::uint32_t ports = 1;
  std::uint32_t format_modes = 7;  // bits of FormatMode: those that the device can put on the wire
};

}  // namespace mrc::node
