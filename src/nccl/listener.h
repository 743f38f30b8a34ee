// The side that listens: a TCP port in a handle, and the senders that come to it.
#pragma once

#include <openmrc/connect.h>

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "nccl/handle.h"
#include "nccl/meeting.h"
#include "nccl/receiver.h"

namespace mrc::nccl {

class Listener {
 public:
  static Result<std::unique_ptr<Listener>> make(const Device& device);

  Handle handle() const;
  /// The next receiver whose sender has come, or null. A caller who is no sender of ours is turned away; one
  /// who says nothing keeps the next one waiting for a moment only. ETIMEDOUT when nobody comes for so long
  /// that the sender must have given up or died.
  Result<std::unique_ptr<Receiver>> accept();

 private:
  using TcpListener = std::shared_ptr<openmrc_listener>;  // a meeting under way outlives us
  Listener(const Device& device, TcpListener tcp);
  Status wait_on();
  bool may_meet_another() const;
  bool somebody_waits() const;
  Status start_meeting();

  const Device& device_;
  TcpListener tcp_;
  std::uint64_t cookie_, answer_;
  std::vector<std::shared_ptr<Meeting>> meetings_;
  std::chrono::steady_clock::time_point last_began_;
  std::optional<std::chrono::steady_clock::time_point> waits_since_;
};

}  // namespace mrc::nccl
