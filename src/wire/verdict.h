// What became of a packet. One word per outcome: the same in code, counters, tool output and tests.
// A bad packet is the peer's or the network's doing: it gets a verdict and a count, and touches nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace mrc {

#define MRC_VERDICTS(X)                                                            \
  X(ok, "accepted")                                                                \
  /* parsing: the bytes are not an MRC packet */                                   \
  X(too_short, "fewer bytes than its headers need")                                \
  X(bad_ip_version, "not IPv4 or IPv6")                                            \
  X(bad_ip_header, "IP header length or checksum is wrong")                        \
  X(ip_fragment, "an IP fragment: MRC packets are never fragmented")               \
  X(not_udp, "not UDP")                                                            \
  X(not_mrc_port, "UDP destination port is not MRC's")                             \
  X(length_mismatch, "IP, UDP and header lengths do not add up")                   \
  X(bad_udp_checksum, "UDP checksum is wrong")                                     \
  X(bad_icrc, "invariant CRC is wrong")                                            \
  X(bad_srh, "malformed segment routing header")                                   \
  X(unknown_opcode, "opcode is not an MRC opcode")                                 \
  X(bad_tver, "transport version is not 0")                                        \
  X(bad_pad, "pad count does not fit the opcode or the payload")                   \
  X(bad_field, "a field holds a value that its type forbids")                      \
  X(trimmed_ok, "a trimmed packet, recognised by class")                           \
  X(trimmed_too_short, "trimmed below the headers that name its PSN")              \
  /* delivery: a well-formed packet that this queue pair does not take */          \
  X(unknown_qp, "no such queue pair")                                              \
  X(wrong_state, "the queue pair's state does not accept this packet")             \
  X(bad_pkey, "partition key does not match")                                      \
  X(wrong_peer, "source address is not the queue pair's peer")                     \
  X(duplicate, "arrived before: answered again, never placed again")               \
  X(out_of_window, "PSN is beyond the receive window")                             \
  X(stale, "answers something that is no longer outstanding")                      \
  X(bad_length, "payload length does not fit opcode and path MTU")                 \
  X(bad_rkey, "no region with this key in the queue pair's protection domain")     \
  X(no_access, "the region does not allow remote writes")                          \
  X(out_of_bounds, "address or length leaves the region or the message")           \
  X(no_receive, "an immediate arrived and no receive was posted")                  \
  X(too_many_wimm, "more immediates in flight than agreed")                        \
  X(no_resource, "no memory left for this packet's record")

enum class Verdict : std::uint8_t {
#define MRC_VERDICT_NAME(name, text) name,
  MRC_VERDICTS(MRC_VERDICT_NAME)
#undef MRC_VERDICT_NAME
};

inline constexpr int kVerdictCount = 0
#define MRC_VERDICT_ONE(name, text) +1
    MRC_VERDICTS(MRC_VERDICT_ONE)
#undef MRC_VERDICT_ONE
    ;

std::string_view name(Verdict v);
std::string_view explain(Verdict v);

}  // namespace mrc
