// What each process sets for itself, and both ends of a connection must have alike: packets of one that has
// another port, class or checksum are no packets for the other, and nobody would hear why.
//
// It travels in the body of `ready`, which peers that do not know of it leave unread: entries of one byte
// (which) and four (its value). Who says nothing is taken as it is, and so is an entry that we do not know.
#pragma once

#include <span>

#include "base/result.h"
#include "lib/connect_message.h"
#include "lib/device_types.h"

namespace mrc::lib::connect {

Message emit_ready(const WireTerms& terms);
/// EINVAL names the setting and both values.
Status agree_on_terms(const WireTerms& ours, std::span<const std::uint8_t> ready);

}  // namespace mrc::lib::connect
