// What a sender and a receiver have in common: requests, the completion queue, and the watch over the peer.
//
// NCCL calls one comm from one thread at a time.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "nccl/link.h"

namespace mrc::nccl {

class Comm;

/// What NCCL holds until test() says that it is done.
struct Request {
  Comm* comm = nullptr;
  bool used = false;
  std::uint32_t count = 0;    // of buffers
  std::uint32_t waiting = 0;  // for so many completions, or pieces
  std::array<std::uint64_t, kGroup> bytes{};
};

class Comm {
 public:
  virtual ~Comm() = default;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  /// done, and the bytes of each buffer; the request is gone then. `sizes` may be null.
  Status test(Request& request, int* done, int* sizes);
  std::unique_ptr<Link> release_link() { return std::move(link_); }
  const Device& device() const { return link_->device(); }

  static constexpr std::uint32_t kRequests = 256;

 protected:
  explicit Comm(std::unique_ptr<Link> link);
  /// Takes what has come; then, if nothing has, looks after the peer. The first error stays.
  Status progress();
  Status check() const { return error_.code != 0 ? Status(error_) : Status(Done{}); }
  Request* new_request();  // null when all are in use
  Link& link() { return *link_; }
  std::uint64_t number_of(const Request& r) const {
    return static_cast<std::uint64_t>(&r - requests_.data());
  }
  Request& request(std::uint64_t number) { return requests_[number]; }
  Error fail(const Error& error);
  /// Once.
  void warn_of_cut(std::uint64_t size, std::uint64_t room);
  /// Counts a write of ours that will be answered.
  void note_posted() { ++unanswered_; }
  std::uint32_t unanswered() const { return unanswered_; }

  static constexpr std::uint64_t kKeepaliveId = kRequests;
  static constexpr std::uint64_t kCopiedId = kRequests + 1;  // of writes that no request waits for

 private:
  using Clock = std::chrono::steady_clock;
  virtual Status on_immediate(std::uint32_t immediate, std::uint32_t bytes) = 0;
  virtual Status on_written(std::uint64_t id) = 0;
  /// Nothing has come: the time for what nobody waits for.
  virtual Status on_idle() { return Done{}; }
  Status take(const ibv_wc& wc);
  Status poll();
  Status look_after_peer();
  Status part();
  Status ask_peer();
  Error lost(const std::string& why) const;

  std::unique_ptr<Link> link_;
  std::array<Request, kRequests> requests_{};
  std::uint32_t next_request_ = 0;
  std::uint32_t unanswered_ = 0;
  std::uint32_t idle_ = 0;
  Clock::time_point heard_, looked_;
  bool gone_ = false, flushed_ = false, told_of_cut_ = false;
  Error error_;
};

}  // namespace mrc::nccl
