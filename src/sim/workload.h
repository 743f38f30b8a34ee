// What applications do: the contract between a host and the program that runs on it.
//
// A workload is asked at the start of each host and after each thing that happened there, and answers with
// actions. It may keep state per host and touch only the state of the host that it is asked about: hosts run
// on several threads. Nothing about the network is visible to it but the messages that arrived.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/ps.h"

namespace mrc::sim {

using Host = std::uint32_t;

/// A message from host to host: one RDMA write with immediate. `tag` arrives with it.
struct Message {
  Host peer = 0;
  std::uint64_t bytes = 0;
  std::uint32_t tag = 0;
  std::uint32_t flow = 0;  // the name of this transfer in results, unique per source host
};

/// What a program may ask of its host.
class Actions {
 public:
  virtual Ps now() const = 0;
  virtual void send(const Message& message) = 0;
  /// on_timer(token) after `delay`.
  virtual void wait(Ps delay, std::uint64_t token) = 0;
  /// on_signal(word) at another host: coordination outside the fabric. It takes a link's delay, on the same
  /// host none.
  virtual void signal(Host host, std::uint64_t word) = 0;

 protected:
  ~Actions() = default;
};

class Workload {
 public:
  virtual ~Workload() = default;

  /// False for a host that never starts by itself; it may still receive.
  virtual bool takes_part(Host host) const = 0;
  /// With how many others it exchanges messages, at most: its NIC is made for as many QPs.
  virtual std::uint32_t peers(Host host) const = 0;
  virtual void start(Host host, Actions& actions) = 0;
  /// The last byte of a message from `peer` is in this host's memory, and of all messages before it.
  virtual void on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) = 0;
  /// The peer has acknowledged the message.
  virtual void on_sent(Host host, const Message& message, Actions& actions) = 0;
  virtual void on_timer(Host host, std::uint64_t token, Actions& actions) = 0;
  virtual void on_signal(Host host, std::uint64_t word, Actions& actions) = 0;

  /// After the last event: where the work stands, as a sentence that names no job; empty when all is done.
  virtual std::string unfinished() const = 0;

  /// How far a host that takes part has come, as far as unfinished() asks, for another process to adopt().
  virtual std::vector<std::uint64_t> standing(Host) const { return {}; }
  virtual void adopt(Host, std::span<const std::uint64_t>) {}
};

}  // namespace mrc::sim
