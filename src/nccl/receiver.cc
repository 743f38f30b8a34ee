#include "nccl/receiver.h"

#include <cerrno>
#include <cstddef>

namespace mrc::nccl {
namespace {

constexpr std::uint32_t kGrantsInFlight = 2 * kRing;  // a buffer can be filled before its grant's ACK comes
constexpr std::uint32_t kPiecesWaiting = 512;         // a sender has at most so many in flight
constexpr std::uint64_t kGrantId = 0;

}  // namespace

Result<std::unique_ptr<Link>> Receiver::prepare(const Device& device, std::uint32_t qps) {
  return Link::make(device, {qps, kGrantsInFlight, kPiecesWaiting, 0});
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
  for (std::size_t i = 0; i < buffers.size(); ++i) slot.room[i] = buffers[i].size;
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
                          .to = link().peer().ring_address + sequence_ % kRing * sizeof(Grant),
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
  Slot* slot = which.slot < kRing ? &slots_[which.slot] : nullptr;
  const bool sane = slot != nullptr && slot->request != nullptr && which.buffer < slot->request->count &&
                    slot->pieces[which.buffer] < which.pieces &&
                    slot->request->bytes[which.buffer] + bytes <= slot->room[which.buffer];
  if (!sane) return Error{EPROTO, link().peer_name() + " sent data that was not asked for"};
  Request& request = *slot->request;
  request.bytes[which.buffer] += bytes;
  if (++slot->pieces[which.buffer] < which.pieces) return Done{};
  slot->pieces[which.buffer] = UINT32_MAX;  // nothing more may come for it
  if (--request.waiting == 0) slot->request = nullptr;
  return Done{};
}

Status Receiver::on_written(std::uint64_t) { return Done{}; }

}  // namespace mrc::nccl
