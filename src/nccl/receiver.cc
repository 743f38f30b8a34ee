#include "nccl/receiver.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace mrc::nccl {
namespace {

constexpr std::uint32_t kGrantsInFlight = 2 * kRing;  // a buffer can be filled before its grant's ACK comes
constexpr std::uint32_t kSpare = 2;  // for a question whether the peer lives, and for what is done
// An immediate that finds no receive ends the queue pair: there is one for all that a sender can have sent
// before we look, on one queue pair.
constexpr std::uint32_t kPiecesWaiting = kRing * kGroup + kEarlySlots + kMostQuestions;
constexpr std::uint64_t kGrantId = 0;
// Early messages that have left the ring when it is said: it takes a packet, which others need not wait for.
constexpr std::uint32_t kSayWhenIdle = kEarlySlots / 2, kSayAtOnce = kEarlySlots * 3 / 4;
constexpr std::uint32_t kFilled = UINT32_MAX;  // pieces of a buffer that nothing more may come for

}  // namespace

Result<std::unique_ptr<Link>> Receiver::prepare(const Device& device, std::uint32_t qps) {
  auto ring = Ring::make(device);
  if (!ring) return ring.error();
  return Link::make(device, {qps, kGrantsInFlight, kPiecesWaiting, 0}, *std::move(ring));
}

Status Receiver::check(const Introduction& sender) {
  if (sender.ring_slots == kGrants && sender.ring_address != 0) return Done{};
  return Error{EPROTO,
               "the sender's plugin has another ring of grants: install the same OpenMRC on all ranks"};
}

Status Receiver::receive(std::span<const Buffer> buffers, Request** out) {
  *out = nullptr;
  Slot& slot = slots_[next_ % kRing];
  Request* request = slot.request == nullptr ? new_request() : nullptr;
  if (request == nullptr) return progress();
  slot = {.request = request};
  request->count = request->waiting = static_cast<std::uint32_t>(buffers.size());
  request->bytes = {};
  std::copy(buffers.begin(), buffers.end(), slot.buffers.begin());
  ++next_;
  for (std::uint32_t n = early_.done(); n != early_.arrived() && slot.request != nullptr; ++n) {
    if (early_.waits(n)) settle(n, slot);
  }
  *out = request;
  if (auto told = say_what_is_done(kSayAtOnce); !told) return fail(told.error());
  if (auto granted = grant(); !granted) return fail(granted.error());
  return Done{};
}

Status Receiver::grant() {
  while (!grants_wait() && ungranted_ != next_ && unanswered() + kSpare < kGrantsInFlight) {
    Slot& slot = slots_[ungranted_ % kRing];
    if (slot.request != nullptr) {
      if (auto granted = grant(slot); !granted) return granted;
    }
    ++ungranted_;
  }
  return Done{};
}

Status Receiver::grant(Slot& slot) {
  const std::uint32_t count = slot.request->count;
  // What was there has arrived: fewer are under way than there are places.
  Grant& grant = link().ring().grant(granted_);
  grant = {granted_, static_cast<std::uint16_t>(count), 0, early_.arrived(), early_.done(), {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    const Buffer& b = slot.buffers[i];
    grant.buffers[i] = {reinterpret_cast<std::uint64_t>(b.data), b.size,
                        b.memory != nullptr ? b.memory->rkey : 0, b.tag};
    if (slot.pieces[i] == kFilled) grant.filled = static_cast<std::uint16_t>(grant.filled | 1u << i);
  }
  const Link::Write what{.from = &grant,
                         .size = offsetof(Grant, buffers) + count * sizeof(GrantedBuffer),
                         .lkey = link().ring().lkey(),
                         .to = Ring::address_of_grant(link().peer(), granted_),
                         .rkey = link().peer().ring_rkey,
                         .id = kGrantId};
  static_assert(kGrantsInFlight <= kGrants);
  slot.granted = true;
  slot.grant = granted_;
  slot_of_[granted_ % kGrants] = static_cast<std::uint8_t>(&slot - slots_.data());
  told_done_ = early_.done();
  return write(what, {false, granted_++});
}

/// Without grants nothing else tells the sender that it may go on.
Status Receiver::say_what_is_done(std::uint32_t at_least) {
  if (early_.done() - told_done_ < at_least || unanswered() + 1 >= kGrantsInFlight) return Done{};
  told_done_ = early_.done();
  return write({.id = kGrantId}, {true, told_done_});
}

Status Receiver::write(const Link::Write& what, GrantImmediate immediate) {
  const std::uint32_t word = immediate.word();
  if (auto written = link().write(0, what, &word); !written) return written;
  note_posted();
  return Done{};
}

Status Receiver::on_immediate(std::uint32_t immediate, std::uint32_t bytes) {
  const PieceImmediate which = PieceImmediate::from(immediate);
  if (which.pieces > 0) return on_piece(which, bytes);
  return which.slot == kAsks ? on_question() : on_early(which.slot);
}

Status Receiver::on_piece(const PieceImmediate& which, std::uint32_t bytes) {
  Slot* slot = which.slot < kGrants ? &slots_[slot_of_[which.slot]] : nullptr;
  const bool sane = slot != nullptr && slot->request != nullptr && slot->granted &&
                    slot->grant % kGrants == which.slot && which.buffer < slot->request->count &&
                    slot->pieces[which.buffer] < which.pieces &&
                    slot->request->bytes[which.buffer] + bytes <= slot->buffers[which.buffer].size;
  if (!sane) return Error{EPROTO, link().peer_name() + " sent data that was not asked for"};
  Request& request = *slot->request;
  request.bytes[which.buffer] += bytes;
  if (++slot->pieces[which.buffer] < which.pieces) return Done{};
  note_filled(*slot, which.buffer);
  return grant();
}

void Receiver::note_filled(Slot& slot, std::uint32_t buffer) {
  short_run_ = slot.request->bytes[buffer] > kEarlyBytes ? 0 : short_run_ + 1;
  slot.pieces[buffer] = kFilled;
  if (--slot.request->waiting == 0) slot.request = nullptr;
  while (oldest_ != next_ && slots_[oldest_ % kRing].request == nullptr) {
    if (oldest_ == ungranted_) ++ungranted_;
    ++oldest_;
  }
}

Status Receiver::on_question() {
  short_run_ = 0;
  return grant();
}

Status Receiver::on_early(std::uint32_t slot) {
  const EarlyMessage& message = link().ring().early(slot);
  const bool sane = early_.room() && slot == early_.arrived() % kEarlySlots && message.size <= kEarlyBytes &&
                    granted_ - message.sequence <= kGrants;
  if (!sane) return Error{EPROTO, link().peer_name() + " sent a message too early"};
  const std::uint32_t number = early_.arrived();
  early_.note_arrived();
  for (std::uint32_t r = oldest_; r != next_; ++r) {
    Slot& candidate = slots_[r % kRing];
    const bool known = candidate.granted && granted_ - candidate.grant > granted_ - message.sequence;
    if (candidate.request != nullptr && !known && settle(number, candidate)) break;
  }
  return say_what_is_done(kSayAtOnce);
}

bool Receiver::settle(std::uint32_t number, Slot& slot) {
  const EarlyMessage& message = link().ring().early(number);
  const std::uint32_t size = std::min(message.size, kEarlyBytes);
  for (std::uint32_t i = 0; i < slot.request->count; ++i) {
    const Buffer& buffer = slot.buffers[i];
    if (slot.pieces[i] != 0 || buffer.tag != message.tag) continue;
    slot.request->bytes[i] = std::min<std::uint64_t>(size, buffer.size);
    if (size > buffer.size) warn_of_cut(size, buffer.size);
    if (slot.request->bytes[i] > 0) std::memcpy(buffer.data, message.data, slot.request->bytes[i]);
    early_.note_taken(number);
    note_filled(slot, i);
    return true;
  }
  return false;
}

Status Receiver::on_written(std::uint64_t) { return grant(); }

Status Receiver::on_idle() { return say_what_is_done(kSayWhenIdle); }

}  // namespace mrc::nccl
