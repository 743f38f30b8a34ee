#include "nccl/comm.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "nccl/log.h"

namespace mrc::nccl {
namespace {

constexpr std::size_t kBatch = 16;
constexpr std::uint32_t kIdlePolls = 64;                    // between two looks at the clock
constexpr auto kLookEvery = std::chrono::milliseconds(10);  // at the connection

}  // namespace

Comm::Comm(std::unique_ptr<Link> link) : link_(std::move(link)), heard_(Clock::now()), looked_(heard_) {
  for (Request& r : requests_) r.comm = this;
}

Request* Comm::new_request() {
  for (std::uint32_t i = 0; i < kRequests; ++i) {
    Request& r = requests_[(next_request_ + i) % kRequests];
    if (r.used) continue;
    next_request_ = (next_request_ + i + 1) % kRequests;
    r.used = true;
    r.count = r.waiting = 0;
    return &r;
  }
  return nullptr;
}

Status Comm::test(Request& request, int* done, int* sizes) {
  *done = 0;
  if (!request.used) return Error{EINVAL, "NCCL tested a request that was done already"};
  if (request.waiting > 0) {
    if (auto made = progress(); !made) return made;
  }
  if (request.waiting > 0) return Done{};
  *done = 1;
  for (std::uint32_t i = 0; sizes != nullptr && i < request.count; ++i) {
    sizes[i] = static_cast<int>(std::min<std::uint64_t>(request.bytes[i], INT_MAX));
  }
  request.used = false;
  return Done{};
}

Error Comm::fail(const Error& error) {
  if (error_.code == 0) {
    error_ = error;
    warn(error.what);
  }
  return error_;
}

void Comm::warn_of_cut(std::uint64_t size, std::uint64_t room) {
  if (!told_of_cut_) {
    warn("a message of " + std::to_string(size) + " bytes between this rank and " + link_->peer_name() +
         " is cut to the " + std::to_string(room) + " bytes that its receiver has room for");
  }
  told_of_cut_ = true;
}

Error Comm::lost(const std::string& why) const {
  return {ECONNRESET, "lost " + link_->peer_name() + ": " + why + "; planes: " + link_->planes()};
}

Status Comm::progress() {
  if (error_.code != 0) return error_;
  if (auto polled = poll(); !polled) return fail(polled.error());
  if (idle_ == 0 || idle_ % kIdlePolls != 0) return Done{};
  if (auto well = look_after_peer(); !well) return fail(well.error());
  return Done{};
}

Status Comm::poll() {
  std::array<ibv_wc, kBatch> done;
  const auto n = link_->poll(done);
  if (!n) return n.error();
  for (int i = 0; i < *n; ++i) {
    if (auto taken = take(done[static_cast<std::size_t>(i)]); !taken) return taken;
  }
  if (*n == 0 && flushed_) return lost("a queue pair has failed");
  idle_ = *n > 0 ? 0 : idle_ + 1;
  return *n > 0 ? Status(Done{}) : on_idle();
}

Status Comm::take(const ibv_wc& wc) {
  if (wc.status == IBV_WC_WR_FLUSH_ERR) {  // something else is the reason, and it may come behind
    flushed_ = true;
    return Done{};
  }
  if (wc.status != IBV_WC_SUCCESS) {
    const std::string why =
        wc.status == IBV_WC_RETRY_EXC_ERR
            ? "no answer on any path for " + std::to_string(device().settings().timeout_ms) +
                  " ms (NCCL_OPENMRC_TIMEOUT_MS)"
        : wc.status == IBV_WC_GENERAL_ERR
            ? std::string("nothing can be posted: ") + std::strerror(static_cast<int>(wc.vendor_err))
            : std::string(::ibv_wc_status_str(wc.status));
    return lost(why);
  }
  heard_ = looked_;  // good enough: the clock is read in look_after_peer()
  if ((wc.wr_id & Link::kReceiveId) != 0) {
    return on_immediate(ntohl(wc.imm_data), wc.byte_len);
  }
  --unanswered_;
  return wc.wr_id == kKeepaliveId ? Status(Done{}) : on_written(wc.wr_id);
}

// Writes of ours that stay unanswered fail by themselves. While there is none, only asking tells a peer that
// waits from one that has gone.
Status Comm::look_after_peer() {
  const auto now = Clock::now();
  if (now - looked_ < kLookEvery) return Done{};
  looked_ = now;
  if (gone_) return part();
  gone_ = link_->peer_has_gone();
  const auto patience = std::chrono::milliseconds(device().settings().timeout_ms) / kAsksPerTimeout;
  if (unanswered_ > 0 || now - heard_ < patience) return Done{};
  return ask_peer();
}

/// What the peer sent before it left is taken first, and others may have kept us from that until now. While
/// it lingers it still answers: it may have all that we sent, and only its last ACKs are missing.
Status Comm::part() {
  link_->insist();
  if (auto polled = poll(); !polled) return polled;
  const bool answers = unanswered_ > 0 && link_->peer_lingers();
  return idle_ == 0 || answers ? Status(Done{}) : lost("it closed the connection or died");
}

Status Comm::ask_peer() {
  const Link::Write nothing{.id = kKeepaliveId};
  if (auto asked = link_->write(0, nothing, nullptr); !asked) return asked;
  note_posted();
  return Done{};
}

}  // namespace mrc::nccl
