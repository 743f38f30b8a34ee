// The queue pairs between one sender and one receiver, their completion queue, and the connection beside
// them.
#pragma once

#include <mrc.h>
#include <openmrc/connect.h>
#include <openmrc/planes.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl/device.h"
#include "nccl/driver.h"
#include "nccl/handoff.h"
#include "nccl/protocol.h"
#include "nccl/ready_list.h"
#include "nccl/ring.h"

namespace mrc::nccl {

class Link : public ReadyList::Entry {
 public:
  struct Shape {
    std::uint32_t qps = 1;
    std::uint32_t sends = 0;     // writes outstanding on each
    std::uint32_t receives = 0;  // immediates that may wait on each
    int traffic_class = 0;
  };
  /// Everything up to queue pairs that wait for a peer, with receives posted.
  static Result<std::unique_ptr<Link>> make(const Device& device, const Shape& shape,
                                            std::unique_ptr<Ring> ring);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// The peer must introduce itself with this cookie.
  Status connect(const std::string& host, std::uint16_t port, const Introduction& ours, std::uint64_t cookie,
                 int timeout_ms);
  Status accept(openmrc_listener* listener, const Introduction& ours, std::uint64_t cookie, int timeout_ms);
  const Introduction& peer() const { return peer_; }
  const std::string& peer_name() const { return peer_name_; }
  /// The peer has closed or died, as far as the connection tells.
  bool peer_has_gone() const;
  /// It has said goodbye, and its end is still there.
  bool peer_lingers() const;
  int connection_fd() const { return ::openmrc_connection_fd(connection_); }
  /// Tells the peer that we are done; waits for nothing.
  void say_goodbye();
  /// Takes part in what moves data, for a caller that waits for this link.
  void help() { device_.driver().help(place_); }
  /// The same, and waits for the turn where help() would leave it to others.
  void insist() { device_.driver().insist(place_); }
  /// Writes that the peer has not acknowledged yet.
  bool has_unanswered() const { return unanswered_.load(std::memory_order_relaxed) != 0; }

  // --- data ---
  struct Write {
    const void* from = nullptr;
    std::uint64_t size = 0;
    std::uint32_t lkey = 0;
    std::uint64_t to = 0;
    std::uint32_t rkey = 0;
    std::uint64_t id = 0;  // below kReceiveId
  };
  static constexpr std::uint64_t kReceiveId = std::uint64_t{1} << 63;  // and the queue pair's number
  /// The driver posts it; an error comes as a completion. EAGAIN cannot be: callers know how many they have
  /// under way.
  Status write(std::uint32_t qp, const Write& what, const std::uint32_t* immediate);
  /// How many completions were there. A receive that has completed is posted anew already.
  Result<int> poll(std::span<ibv_wc> out);

  // --- for the driver ---
  const Driver::Place& place() const { return place_; }
  bool post_handed_over();
  bool has_refused() const { return !refused_.empty(); }
  /// What could not be posted fails, once the completions have been polled that say why.
  void hand_back_refused();
  void hand_back(ibv_wc& wc);
  void note_queue_failed(int error) { queue_error_.store(error, std::memory_order_relaxed); }

  std::uint32_t qps() const { return static_cast<std::uint32_t>(qps_.size()); }
  const Device& device() const { return device_; }
  Ring& ring() const { return *ring_; }
  /// One line: each plane and how it stood when last heard of.
  std::string planes() const;

 private:
  /// A write on its way to the driver.
  struct Command {
    Write what;
    std::uint32_t qp;
    std::uint32_t immediate;
    bool has_immediate;
  };
  int post(const Command& command);
  int post_receive(std::uint32_t qp);
  Link(const Device& device, std::unique_ptr<Ring> ring) : device_(device), ring_(std::move(ring)) {}
  Status build(const Shape& shape);
  Status meet(std::uint64_t cookie);
  openmrc_params params(int traffic_class) const;

  const Device& device_;
  std::unique_ptr<Ring> ring_;  // outlives the queue pairs that the peer writes through
  Driver::Place place_;
  std::uint32_t entries_ = 0;
  std::unique_ptr<Handoff<Command>> commands_;
  std::unique_ptr<Handoff<ibv_wc>> completions_;
  std::vector<ibv_wc> refused_;  // could not be posted; the driver's
  std::atomic<bool> overrun_{false};
  std::atomic<int> queue_error_{0};
  std::atomic<std::uint32_t> unanswered_{0};
  std::vector<mrc_qp*> qps_;
  openmrc_params params_{};
  openmrc_connection* connection_ = nullptr;
  Introduction peer_;
  std::string peer_name_;
};

}  // namespace mrc::nccl
