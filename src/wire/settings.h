// Every wire choice on which published readings of MRC differ, as a named setting with our default.
// An interop partner's other reading is one setting away.
#pragma once

#include <cstdint>

namespace mrc::wire {

enum class FlagOrder : std::uint8_t { ibta, swapped };       // BTH byte 1: SE then M, or M then SE
enum class EvHalves : std::uint8_t { port_low, port_high };  // EV[15:0] in the UDP source port, or EV[31:16]

struct Settings {
  std::uint16_t udp_port = 4791;  // some transcriptions print 4971
  FlagOrder bth_flags = FlagOrder::ibta;
  EvHalves ev_halves = EvHalves::port_low;
  bool bth_migration = false;                   // the M bit that we send; ignored on receipt
  std::uint16_t nack_type = 0;                  // NETH bytes 0-1: no value is known; ignored on receipt
  std::uint16_t probe_type = 0;                 // PETH bytes 0-1: the same
  std::uint8_t nack_cc_type = 2;                // NETH byte 16, bits 7:4
  std::uint8_t endpoint_response_op_shift = 2;  // EETH: the operation sits in bits 3:2
  bool check_control_psn = true;                // refuse a SACK or NACK whose BTH.PSN is not its own PSN

  bool check_icrc = true;
  bool emit_icrc = true;  // false: four zero bytes, for peers that do not check
  bool check_udp_checksum = true;
  bool emit_udp6_checksum = true;         // over IPv6; over IPv4 the checksum is always 0
  bool accept_zero_udp6_checksum = true;  // RoCE hardware sends none: the iCRC covers more
  std::uint8_t hop_limit = 64;

  // Traffic classes on the wire: DSCP numbers are a deployment's choice.
  std::uint8_t dscp_no_trim = 10;
  std::uint8_t dscp_trimmable = 18;
  std::uint8_t dscp_trimmable_retx = 26;
  std::uint8_t dscp_control = 46;
  std::uint8_t dscp_trimmed = 34;
  std::uint8_t dscp_trimmed_lasthop = 36;
};

}  // namespace mrc::wire
