// A world for a storm: everything that one seed chooses.
#pragma once

#include <cstdint>
#include <vector>

#include "pair/pair.h"

namespace mrc::pair {

enum class FaultKind : std::uint8_t {
  kill_path,  // silently, both ways
  kill_one_way,
  heal_path,
  kill_plane,  // silently, both ways
  port_down,   // with an event at its end, and word to the peer
  port_up,
  deny,  // the controller takes an EV out
  allow,
  pause,    // an end stops listening for a while: its clock seems to jump
  restart,  // the peer forgets everything
};

struct Fault {
  Duration at;
  FaultKind kind;
  int side = 0;
  std::uint16_t slot = 0;
  PortId port;
  Duration length{0};
};

struct Post {
  Duration at;
  int from = 0;
  std::uint32_t length = 0;
  bool imm = false;
};

struct World {
  PairConfig config;
  std::vector<Post> posts;
  std::vector<Fault> faults;   // in order of time
  std::vector<Lane> lanes[2];  // the weather, until it heals
  Duration heal_at;
  bool may_fail = false;  // limited retries, or a restart: works may end in an error
  bool balanced = false;  // nothing in it prefers one plane
};

World make_world(std::uint64_t seed);

}  // namespace mrc::pair
