// What is done to EVs one by one: writing them, denying and allowing them, and generating them.
#include <cerrno>

#include "base/prng.h"
#include "node/expansion.h"
#include "node/profile_rules.h"

namespace mrc::node {
namespace {

int replace_one(const EvReplace& entry, const ProfileLimits& limits, EvProfile& profile) {
  if (profile.mode != EvMode::explicit_) return EINVAL;  // generated EVs are the provider's
  if (entry.to.port < 1 || entry.to.port > limits.ports || !fits(entry.to.bits, profile.fields))
    return EINVAL;
  bool found = false;
  for (auto& slot : profile.slots) {
    if (!(slot.value == entry.from)) continue;
    slot = {.value = entry.to};
    found = true;
    if (!entry.all_copies) break;
  }
  return found ? 0 : ENOENT;
}

/// A path is good or bad wherever it stands in the set, so all its copies change.
int set_one(const EvSetState& entry, EvProfile& profile) {
  if (entry.state != EvState::good && entry.state != EvState::denied) return EINVAL;
  if (entry.value.unpopulated()) return ENOENT;
  bool found = false;
  for (auto& slot : profile.slots) {
    if (!(slot.value == entry.value)) continue;
    slot.denied = entry.state == EvState::denied;
    slot.bad_reports = 0;
    found = true;
  }
  return found ? 0 : ENOENT;
}

template <class Entries, class One>
Outcome each(const Entries& entries, One one) {
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (const int error = one(entries[i]); error != 0) return {error, i};
  }
  return {};
}

struct Range {
  std::uint64_t low, size;
};

/// The values that a field's bits under the mask may take. Without bounds (0 and 0) all that the mask has
/// room for.
Range range_of(const EvField& field) {
  const auto bits = static_cast<std::uint32_t>(__builtin_popcount(field.mask));
  const std::uint64_t room = std::uint64_t{1} << bits;
  if (field.min == 0 && field.max == 0) return {0, room};
  return {field.min, std::uint64_t{field.max} - field.min + 1};
}

/// The index-th combination: the last field counts fastest.
EvBits combination(const std::vector<EvField>& fields, std::uint64_t index) {
  std::vector<std::uint64_t> digits(fields.size());
  for (std::size_t i = fields.size(); i-- > 0;) {
    const Range range = range_of(fields[i]);
    digits[i] = range.low + index % range.size;
    index /= range.size;
  }
  EvBits bits{};
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto width = static_cast<std::uint32_t>(__builtin_popcount(fields[i].mask));
    for (std::uint32_t b = width; b-- > 0; ++next) {
      if ((digits[i] >> b & 1) != 0) set_bit(bits, next);
    }
  }
  return bits;
}

/// How many combinations there are; saturates far above any count.
std::uint64_t combinations(const std::vector<EvField>& fields) {
  constexpr std::uint64_t kPlenty = std::uint64_t{1} << 48;
  std::uint64_t total = 1;
  for (const auto& field : fields) {
    total *= range_of(field).size;
    if (total > kPlenty) return kPlenty;
  }
  return total;
}

}  // namespace

// MRC-CTL-014: entries are applied in order; the first that fails stops, and those before it stay.
Outcome replace_evs(const std::vector<EvReplace>& entries, const ProfileLimits& limits, EvProfile& profile) {
  return each(entries, [&](const EvReplace& entry) { return replace_one(entry, limits, profile); });
}

Outcome set_ev_states(const std::vector<EvSetState>& entries, EvProfile& profile) {
  return each(entries, [&](const EvSetState& entry) { return set_one(entry, profile); });
}

std::vector<EvSlotState> generate(const std::vector<EvField>& fields, std::uint32_t count,
                                  std::uint32_t ports) {
  const std::uint64_t total = combinations(fields);
  const std::uint64_t per_port = (count + ports - 1) / ports;
  const std::uint64_t step = total > per_port ? total / per_port : 1;
  std::vector<EvSlotState> slots(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    slots[i].value.bits = combination(fields, i / ports * step % total);
    slots[i].value.port = static_cast<std::uint8_t>(i % ports + 1);
  }
  return slots;
}

std::vector<EvSlotState> pick_automatic(std::uint32_t count, std::uint32_t ports, bool udp) {
  constexpr std::uint32_t kFirstPort = 0xC000, kPorts = 0x4000,
                          kStride = 2741;  // odd: all of them before one returns
  Prng prng(count);
  std::vector<EvSlotState> slots(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t source = kFirstPort + i / ports * kStride % kPorts;
    const std::uint32_t word = udp ? source << 16 : static_cast<std::uint32_t>(prng.next()) << 16 | source;
    auto& bits = slots[i].value.bits;
    for (int byte = 0; byte < 4; ++byte)
      bits[static_cast<std::size_t>(byte)] = static_cast<std::uint8_t>(word >> (24 - 8 * byte));
    slots[i].value.port = static_cast<std::uint8_t>(i % ports + 1);
  }
  return slots;
}

}  // namespace mrc::node
