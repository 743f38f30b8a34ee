// Small pieces of text that several tools print alike.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "wire/packet.h"

namespace mrc::tools {

std::string hex(std::uint64_t v, int digits = 1);
/// Seconds with nine decimals.
std::string seconds(Duration d);
/// PSNs that a SACK reports beyond its cumulative one, as ranges: "6-9,69"; empty when there are none.
std::string sacked_ranges(const wire::Sack& sack);

}  // namespace mrc::tools
