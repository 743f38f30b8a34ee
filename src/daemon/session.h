// One connection to mrcd: who it is, what it holds, and what waits to be told to it.
#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <map>

#include "daemon/device_state.h"
#include "node/message_socket.h"
#include "node/proof.h"

namespace mrc::daemon {

using Clock = std::chrono::steady_clock;

struct Session {
  Session(port::Fd fd, std::uint32_t pid_, std::uint32_t uid_)
      : socket(std::move(fd)), pid(pid_), uid(uid_), challenge(node::make_challenge()) {}

  node::MessageSocket socket;
  std::uint32_t pid, uid;  // from the kernel
  node::Challenge challenge;
  bool greeted = false;
  bool controller = false;  // has proven CAP_NET_ADMIN
  bool member = false;      // a process with a device of its own, not somebody who only asks
  DeviceState* device = nullptr;
  Clock::time_point since = Clock::now();
  std::size_t unsent = 0;                               // bytes that the kernel did not take
  Clock::time_point stuck_since{};                      // when it last took some of them; zero: none wait
  bool paused = false;                                  // has sent requests that wait until it reads answers
  std::list<std::unique_ptr<Session>>::iterator place;  // in the list of all

  // As a process with QPs.
  std::uint64_t life = 0;    // as Hello says
  node::ProcessFacts facts;  // the last that it told, without QPs
  bool reported = false;     // it has told any; before, facts has what it had done before it came back
  struct Held {
    std::uint32_t users = 0;
    std::map<std::uint32_t, std::uint32_t> bad;  // slot -> QPs
  };
  std::map<std::uint64_t, Held> evs;
  std::map<std::uint64_t, std::uint32_t> ccs;

  // As a subscriber.
  std::uint32_t kinds = 0;
  std::deque<node::NodeEvent> events;
  std::uint32_t dropped = 0;

  bool asks_about(const DeviceState& other) const { return device == nullptr || device == &other; }
};

}  // namespace mrc::daemon
