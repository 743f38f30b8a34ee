// Every knob of mrcd on one page, each with its sentence.
#pragma once

#include <cstddef>
#include <string>

#include "base/time.h"

namespace mrc::daemon {

struct Settings {
  std::string socket;           // where to listen
  std::string state_file;       // what survives a restart; empty: nothing does
  unsigned socket_mode = 0666;  // who may connect may look; to change anything needs CAP_NET_ADMIN

  std::string metrics;  // [ADDRESS:]PORT of the metrics; empty: none

  std::size_t most_sessions = 8192;
  std::size_t most_sessions_of_a_user = 2048;  // root is not counted
  std::size_t most_devices = 64;               // those that processes bring along
  std::size_t most_events = 4096;          // that wait for one subscriber; then they are dropped and counted
  std::size_t most_snapshots = 16;         // under way at once
  std::size_t snapshot_bytes = 64u << 20;  // of one snapshot: more QPs are left out, and it says so
  std::size_t unsent_bytes = 256u << 20;   // of all sessions together: no new snapshot while more waits
  Duration collect_timeout = 500ms;        // a process that does not answer by then is left as last known
  Duration hello_timeout = 10s;            // who connects must say who he is
  Duration stuck_timeout = 30s;            // who does not read what he asked for is let go
};

}  // namespace mrc::daemon
