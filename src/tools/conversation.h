// Which packets of a capture belong to one queue pair and its peer.
//
// A packet names only the queue pair that it goes to. Who sent it is known from feedback and probes, which
// carry the low 16 bits of both numbers (spdcid, dpdcid), and from the addresses.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "tools/dump_input.h"

namespace mrc::tools {

struct Conversation {
  Qpn qp;
  std::set<wire::IpAddress> addresses;  // where the queue pair was reached: one per plane, or one for all
  std::optional<Qpn> peer;              // unknown while the capture holds no feedback
  std::set<wire::IpAddress> elsewhere;  // other hosts with a queue pair of the same number

  enum class Way { to_qp, to_peer, none };
  Way way_of(const SeenPacket& seen) const;
};

/// Low 16 bits of the sender's queue pair, in the packets that tell it.
std::optional<std::uint16_t> sender_low_bits(const wire::Packet& packet);

/// Reads the capture once. `address` says which host's queue pair is meant; without it, the first that
/// appears.
Result<Conversation> find_conversation(const std::string& path, const wire::Settings& settings, Qpn qp,
                                       std::optional<wire::IpAddress> address);

}  // namespace mrc::tools
