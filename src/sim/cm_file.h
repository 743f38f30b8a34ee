// htsim's traffic matrix (`.cm`), as it is: connections with a start time or a trigger, and the triggers.
//
//   Nodes N / Connections M / Triggers T / Failures F
//   SRC->DST id I (start PS | trigger T) size BYTES [send_done_trigger T] [recv_done_trigger T] [msg K] [prio
//   P] trigger id T (oneshot | multishot | barrier count C) failure switch_type (TOR | AGG | CORE) switch_id
//   S link_id L
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/ps.h"

namespace mrc::sim {

enum class TriggerKind : std::uint8_t {
  oneshot,    // the first activation starts all its connections
  multishot,  // each activation starts the next one
  barrier,    // activation number `count` starts all
};

struct CmTrigger {
  std::uint32_t id = 0;
  TriggerKind kind = TriggerKind::oneshot;
  std::uint32_t count = 1;
  int line = 0;
};

struct CmConnection {
  std::uint32_t id = 0;
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint64_t bytes = 0;
  Ps start = 0;               // when no trigger starts it
  std::uint32_t trigger = 0;  // 0: none, here and below
  std::uint32_t send_done_trigger = 0;
  std::uint32_t recv_done_trigger = 0;
  int line = 0;
};

/// A link that runs slowly from the start: a quarter of its speed, as the peer means it.
struct CmFailure {
  int tier = 0;  // of the switch: 0 TOR, 1 AGG, 2 CORE
  std::uint32_t switch_id = 0;
  std::uint32_t link_id = 0;  // of its uplinks (TOR, AGG) or downlinks (CORE)
  int line = 0;
};

struct CmFile {
  std::uint32_t nodes = 0;
  std::vector<CmConnection> connections;
  std::vector<CmTrigger> triggers;
  std::vector<CmFailure> failures;
};

/// `file` names the text in errors, which say the line, what is wrong and what would do.
Result<CmFile> parse_cm(std::string_view text, std::string_view file);
Result<CmFile> read_cm(const std::string& path);

}  // namespace mrc::sim
