#include "nccl/sender.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace mrc::nccl {
namespace {

constexpr std::uint32_t kSends = 512;        // pieces in flight on each queue pair
constexpr std::uint64_t kStripeUnit = 4096;  // stripes begin where packets do

}  // namespace

Result<std::unique_ptr<Link>> Sender::prepare(const Device& device, std::uint32_t qps, int traffic_class) {
  auto ring = Ring::make(device);
  if (!ring) return ring.error();
  return Link::make(device, {qps, kSends, kRing, traffic_class}, *std::move(ring));
}

Introduction Sender::introduce(const Link& link, std::uint64_t cookie) {
  Introduction i;
  i.cookie = cookie;
  link.ring().introduce(i);
  return i;
}

Status Sender::on_immediate(std::uint32_t immediate, std::uint32_t) {
  const Grant& grant = link().ring().grant(granted_);
  const bool sane = immediate == granted_ && grant.sequence == granted_ && grant.count >= 1 &&
                    grant.count <= kGroup && granted_ - current_ < kRing;
  if (!sane) return Error{EPROTO, link().peer_name() + " sent a grant out of turn"};
  ++granted_;
  settle_early();
  return Done{};
}

Status Sender::on_written(std::uint64_t id) {
  --in_flight_;
  --request(id).waiting;
  return Done{};
}

std::uint32_t Sender::find(int tag) {
  if (current_ == granted_) return kGroup;
  const Grant& grant = link().ring().grant(current_);
  for (std::uint32_t i = 0; i < grant.count; ++i) {
    if ((filled_ >> i & 1) == 0 && grant.buffers[i].tag == tag) return i;
  }
  return kGroup;
}

std::uint64_t Sender::cut(std::uint64_t size, const GrantedBuffer& to) {
  if (size > to.size) warn_of_cut(size, to.size);
  return std::min(size, to.size);
}

void Sender::note_filled(std::uint32_t buffer) {
  filled_ |= 1u << buffer;
  if (static_cast<std::uint32_t>(std::popcount(filled_)) < link().ring().grant(current_).count) return;
  ++current_;
  filled_ = 0;
  settle_early();
}

void Sender::settle_early() {
  if (!early_tag_) return;
  const std::uint32_t buffer = find(*early_tag_);
  if (buffer == kGroup) return;
  early_tag_.reset();
  note_filled(buffer);
}

Status Sender::send(const void* data, std::uint64_t size, int tag, const ibv_mr* memory, Request** out) {
  *out = nullptr;
  if (size > kMaxMessage)
    return Error{EMSGSIZE, "a message is longer than maxP2pBytes and maxCollBytes allow"};
  // Polling first would put every message behind a turn of the network, even when its grant came long ago.
  std::uint32_t buffer = find(tag);
  if (buffer == kGroup) {
    if (auto made = progress(); !made) return made;
    if (buffer = find(tag); buffer == kGroup) return send_early(data, size, tag, out);
  }
  const GrantedBuffer& to = link().ring().grant(current_).buffers[buffer];
  size = cut(size, to);
  const std::uint32_t pieces = size >= device().settings().stripe_bytes ? link().qps() : 1;
  if (in_flight_ + pieces > kSends) return progress();
  Request* request = new_request();
  if (request == nullptr) return progress();
  request->count = 1;
  request->bytes[0] = size;
  const PieceImmediate which{current_ % kRing, buffer, pieces};
  if (auto written = write_pieces(data, to, size, memory, which, *request); !written)
    return fail(written.error());
  note_filled(buffer);
  *out = request;
  return Done{};
}

Status Sender::send_early(const void* data, std::uint64_t size, int tag, Request** out) {
  const bool may = size <= kEarlyBytes && current_ == granted_ && !early_tag_ && in_flight_ < kSends;
  Request* request = may ? new_request() : nullptr;
  if (request == nullptr) return Done{};
  EarlyMessage message{granted_, tag, static_cast<std::uint32_t>(size), 0, {}};
  std::memcpy(message.data, data, size);
  const Link::Write write{.from = &message,
                          .size = offsetof(EarlyMessage, data) + size,
                          .to = Ring::address_of(link().peer(), granted_),
                          .rkey = link().peer().ring_rkey,
                          .id = number_of(*request),
                          .copy = true};
  const std::uint32_t word = PieceImmediate{granted_ % kRing, 0, 0}.word();
  if (auto written = link().write(0, write, &word); !written) return fail(written.error());
  early_tag_ = tag;
  ++in_flight_;
  note_posted();
  request->count = 1;
  request->bytes[0] = size;
  request->waiting = 1;
  *out = request;
  return Done{};
}

Status Sender::write_pieces(const void* data, const GrantedBuffer& to, std::uint64_t size,
                            const ibv_mr* memory, PieceImmediate which, Request& request) {
  const std::uint64_t share = (size / which.pieces + kStripeUnit - 1) / kStripeUnit * kStripeUnit;
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < which.pieces; ++i) {
    const bool last = i + 1 == which.pieces;
    const std::uint64_t part = last ? size - at : std::min(share, size - at);
    const Link::Write piece{.from = static_cast<const char*>(data) + at,
                            .size = part,
                            .lkey = memory != nullptr ? memory->lkey : 0,
                            .to = to.address + at,
                            .rkey = to.rkey,
                            .id = number_of(request),
                            .copy = part <= Link::kInline};
    const std::uint32_t word = which.word();
    if (auto written = link().write(next_qp_, piece, &word); !written) return written;
    next_qp_ = (next_qp_ + 1) % link().qps();
    at += part;
    ++in_flight_;
    ++request.waiting;
    note_posted();
  }
  return Done{};
}

}  // namespace mrc::nccl
