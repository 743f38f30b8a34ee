// What processes that share a UDP port say to one another, and the names of the doors at which they say it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "port/address.h"

namespace mrc::port {

inline constexpr std::uint32_t kSeatMagic = 0x4F4D5243;  // "OMRC"
inline constexpr std::uint16_t kSeatVersion = 2;

enum class SeatAsk : std::uint16_t {
  group = 1,     // the sockets of an address; they come beside the answer
  endpoint = 2,  // hand over the endpoint's door; it comes beside the answer
};

/// One fixed message both ways, over a SOCK_SEQPACKET connection between processes of one host.
struct SeatMessage {
  std::uint32_t magic = kSeatMagic;
  std::uint16_t version = kSeatVersion;
  SeatAsk ask = SeatAsk::group;
  std::uint16_t seats = 0;
  std::uint16_t reserved = 0;
  std::int32_t error = 0;  // in an answer: 0 or an errno
  Address bind;
  char interface[16] = {};

  bool known() const { return magic == kSeatMagic && version == kSeatVersion; }
};
static_assert(sizeof(SeatMessage) == 16 + 20 + 16, "processes of different builds must agree");

inline std::string seat_door(std::uint16_t udp_port, unsigned seat) {
  return "openmrc/" + std::to_string(udp_port) + "/seat/" + std::to_string(seat);
}
inline std::string endpoint_door(std::uint16_t udp_port, const Address& bind, const std::string& interface) {
  return "openmrc/" + std::to_string(udp_port) + "/endpoint/" + to_string(bind) + "/" + interface;
}
inline std::string creation_lock(std::uint16_t udp_port) {
  return "openmrc/" + std::to_string(udp_port) + "/create";
}

}  // namespace mrc::port
