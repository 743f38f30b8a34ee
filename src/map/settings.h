// Every knob of the mapper on one page. All are our decisions: the specification only says what a mapper is
// for.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace mrc::map {

struct Settings {
  // How often, and how long to wait.
  Duration period = 33ms;      // between two probes of one target
  Duration fast_period = 3ms;  // while something is suspected and not yet judged
  // Of T0s, for which T1s' answers speak, and of visits elsewhere. A multiple of the period: one waking
  // serves all.
  Duration seldom_period = 3 * period;
  Duration timeout = 8ms;         // a probe that is not back by then is lost, until it comes late
  Duration relay_timeout = 15ms;  // the same where another node's mapper has to pass it on
  Duration look = 250ms;          // a close look goes on so long after the last reason for it

  // When a target is called what.
  std::uint32_t dead_after = 4;   // losses in a row; more on a path that loses much anyway:
  double dead_by_chance = 1e-5;   // so unlikely must they be by its loss alone
  std::uint32_t revived_by = 4;   // answers since, and losses among them: not dead, only lossy
  std::uint32_t good_after = 8;   // answers in a row, after it was dead
  std::uint32_t loss_events = 3;  // losses, those in a row counted once, and
  double lossy_at = 0.02;         // this share of the window: lossy
  double clean_at = 0.005;        // below this share of a full window a lossy target is good again
  std::uint32_t clean_after =
      128;  // answers in a row, and hardly a loss before, until "no loss here" means something

  // What is probed.
  std::uint32_t coverage = 2;    // hosts that probe one link, where so many are near it
  bool outside_witness = true;   // each node also visits a T0 that is not its own
  std::uint32_t detours = 2;     // ways round a suspected link
  std::uint32_t max_looks = 64;  // close looks at a time: a dead plane must not make a storm

  // From findings to actions.
  Duration settle = 56ms;        // a dead link waits so long for word about its switch
  Duration settle_lossy = 1s;    // a lossy one for word about its direction
  Duration hold_min = 1s;        // a finding stays so long after the last sign of it,
  Duration hold_max = 60s;       // twice as long each time that it comes back, at most so long
  Duration forget = 300s;        // after so long in peace it counts as never found
  Duration stale = 3s;           // what a node said longer ago does not count
  std::uint32_t history = 1024;  // events kept

  // On the wire.
  std::uint16_t udp_port = 4794;  // answers; the next one is for relaying
  std::uint8_t dscp = 46;         // CONTROL: a full data queue is no fault
  std::uint8_t hop_limit = 64;
  std::uint32_t relays_per_second = 2000;  // for others; more are refused
};

}  // namespace mrc::map
