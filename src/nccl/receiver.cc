#include "nccl/receiver.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace mrc::nccl {
namespace {

constexpr std::uint32_t kGrantsInFlight = 2 * kRing;  // a buffer can be filled before its grant's ACK comes
constexpr std::uint32_t kPiecesWaiting = 512;         // a sender has at most so many in flight
constexpr std::uint64_t kGrantId = 0;
constexpr std::uint32_t kFilled = UINT32_MAX;  // pieces of a buffer that nothing more may come for

}  // namespace

Result<std::unique_ptr<Link>> Receiver::prepare(const Device& device, std::uint32_t qps) {
  auto ring = Ring::make(device);
  if (!ring) return ring.error();
  return Link::make(device, {qps, kGrantsInFlight, kPiecesWaiting, 0}, *std::move(ring));
}

Introduction Receiver::introduce(const Link& link, std::uint64_t cookie) {
  Introduction i;
  i.cookie = cookie;
  link.ring().introduce(i);
  return i;
}

Status Receiver::check(const Introduction& sender) {
  if (sender.ring_slots == kRing && sender.ring_address != 0) return Done{};
  return Error{EPROTO,
               "the sender's plugin has another ring of grants: install the same OpenMRC on all ranks"};
}

Status Receiver::receive(std::span<const Buffer> buffers, Request** out) {
  *out = nullptr;
  Slot& slot = slots_[sequence_ % kRing];
  if (slot.request != nullptr || unanswered() + 1 >= kGrantsInFlight) return progress();
  Request* request = new_request();
  if (request == nullptr) return progress();
  if (auto granted = grant(buffers); !granted) return fail(granted.error());
  slot = {.request = request};
  request->count = request->waiting = static_cast<std::uint32_t>(buffers.size());
  request->bytes = {};
  std::copy(buffers.begin(), buffers.end(), slot.buffers.begin());
  if (early_) settle_early(sequence_);
  ++sequence_;
  *out = request;
  return Done{};
}

Status Receiver::grant(std::span<const Buffer> buffers) {
  Grant grant{sequence_, static_cast<std::uint32_t>(buffers.size()), {}};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& b = buffers[i];
    grant.buffers[i] = {reinterpret_cast<std::uint64_t>(b.data), b.size,
                        b.memory != nullptr ? b.memory->rkey : 0, b.tag};
  }
  const Link::Write write{.from = &grant,
                          .size = offsetof(Grant, buffers) + buffers.size() * sizeof(GrantedBuffer),
                          .to = Ring::address_of(link().peer(), sequence_),
                          .rkey = link().peer().ring_rkey,
                          .id = kGrantId,
                          .copy = true};
  static_assert(sizeof(Grant) <= Link::kInline);
  if (auto written = link().write(0, write, &sequence_); !written) return written;
  note_posted();
  return Done{};
}

Status Receiver::on_immediate(std::uint32_t immediate, std::uint32_t bytes) {
  const PieceImmediate which = PieceImmediate::from(immediate);
  if (which.pieces == 0) return on_early(which.slot);
  Slot* slot = which.slot < kRing ? &slots_[which.slot] : nullptr;
  const bool sane = slot != nullptr && slot->request != nullptr && which.buffer < slot->request->count &&
                    slot->pieces[which.buffer] < which.pieces &&
                    slot->request->bytes[which.buffer] + bytes <= slot->buffers[which.buffer].size;
  if (!sane) return Error{EPROTO, link().peer_name() + " sent data that was not asked for"};
  Request& request = *slot->request;
  request.bytes[which.buffer] += bytes;
  if (++slot->pieces[which.buffer] < which.pieces) return Done{};
  note_filled(*slot, which.buffer);
  return Done{};
}

void Receiver::note_filled(Slot& slot, std::uint32_t buffer) {
  slot.pieces[buffer] = kFilled;
  if (--slot.request->waiting == 0) slot.request = nullptr;
}

Status Receiver::on_early(std::uint32_t slot) {
  const EarlyMessage& message = link().ring().early(slot);
  const bool sane = slot < kRing && !early_ && message.sequence % kRing == slot &&
                    message.size <= kEarlyBytes && sequence_ - message.sequence <= kRing;
  if (!sane) return Error{EPROTO, link().peer_name() + " sent a message too early"};
  early_ = slot;
  for (std::uint32_t s = message.sequence; early_ && s != sequence_; ++s) settle_early(s);
  return Done{};
}

void Receiver::settle_early(std::uint32_t sequence) {
  Slot& slot = slots_[sequence % kRing];
  const EarlyMessage& message = link().ring().early(*early_);
  for (std::uint32_t i = 0; slot.request != nullptr && i < slot.request->count; ++i) {
    const Buffer& buffer = slot.buffers[i];
    if (slot.pieces[i] != 0 || buffer.tag != message.tag) continue;
    slot.request->bytes[i] = std::min<std::uint64_t>(message.size, buffer.size);
    if (message.size > buffer.size) warn_of_cut(message.size, buffer.size);
    if (slot.request->bytes[i] > 0) std::memcpy(buffer.data, message.data, slot.request->bytes[i]);
    early_.reset();
    return note_filled(slot, i);
  }
}

Status Receiver::on_written(std::uint64_t) { return Done{}; }

}  // namespace mrc::nccl
