// What libmrc brings the plugin, in a test's hand: a program that is linked with this has functions of the
// library's names of its own. The plugin finds them first, and they ask the real ones.
#pragma once

#include <cstdint>

namespace mrc::nccl::testing {

/// Completions that wait until they are let go: of messages of kLeastKept bytes or more at their receiver, or
/// of messages at their sender.
enum class Kept : std::uint8_t { nothing, arrivals, acknowledgements };
inline constexpr std::uint32_t kLeastKept = 100;  // more than a grant has
void keep(Kept what);
bool has_kept();

/// Whether every poll of a completion queue fails from now on.
void let_polls_fail(bool fail);

/// How many connections of this process have said goodbye.
int goodbyes();

}  // namespace mrc::nccl::testing
