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
constexpr std::uint64_t kPatience = 1024;    // refused sends until the second question for grants
constexpr std::uint64_t kFirstCopyId = std::uint64_t{1} << 32;  // and the copy's number

}  // namespace

Result<std::unique_ptr<Link>> Sender::prepare(const Device& device, std::uint32_t qps, int traffic_class) {
  auto ring = Ring::make(device);
  if (!ring) return ring.error();
  return Link::make(device, {qps, kSends, kGrants, traffic_class}, *std::move(ring));
}

Status Sender::on_immediate(std::uint32_t immediate, std::uint32_t) {
  questions_ = 0;
  const GrantImmediate which = GrantImmediate::from(immediate);
  if (which.only_done) {
    // The whole number: what this end knows is at most a ring behind.
    return early_.note_done(which.after(early_.next() - kEarlySlots)) ? Status(Done{}) : out_of_turn();
  }
  const Grant grant = link().ring().grant(granted_);
  const bool sane = which.after(granted_) == granted_ && grant.sequence == granted_ && grant.count >= 1 &&
                    grant.count <= kGroup && granted_ - current_ < kRing;
  const std::uint32_t filled = sane ? early_.fill(grant) : EarlySent::kNonsense;
  if (filled >= EarlySent::kNonsense) return out_of_turn();
  const std::uint32_t sequence = granted_++;
  empty_[sequence % kGrants] = static_cast<std::uint8_t>((1u << grant.count) - 1);
  note_filled(sequence, filled);
  return Done{};
}

Status Sender::on_written(std::uint64_t id) {
  --in_flight_;
  if (id >= kFirstCopyId) {
    copy_under_way_[id - kFirstCopyId] = false;
  } else if (id != kCopiedId) {
    --request(id).waiting;
  }
  return Done{};
}

std::uint32_t Sender::find(int tag) {
  if (current_ == granted_) return kGroup;
  const Grant& grant = link().ring().grant(current_);
  for (std::uint32_t i = 0; i < kGroup; ++i) {
    if ((empty_[current_ % kGrants] >> i & 1) != 0 && grant.buffers[i].tag == tag) return i;
  }
  return kGroup;
}

std::uint64_t Sender::cut(std::uint64_t size, const GrantedBuffer& to) {
  if (size > to.size) warn_of_cut(size, to.size);
  return std::min(size, to.size);
}

void Sender::note_filled(std::uint32_t sequence, std::uint32_t buffers) {
  empty_[sequence % kGrants] &= static_cast<std::uint8_t>(~buffers);
  while (current_ != granted_ && empty_[current_ % kGrants] == 0) ++current_;
}

void Sender::note_sent(std::uint64_t size) {
  short_run_ = size <= kEarlyBytes ? short_run_ + 1 : 0;
  refused_ = 0;
}

Status Sender::send(const void* data, std::uint64_t size, int tag, const ibv_mr* memory, Request** out) {
  *out = nullptr;
  if (auto well = check(); !well) return well;
  if (size > kMaxMessage) {
    return Error{EMSGSIZE, "a message of " + std::to_string(size) + " bytes to " + link().peer_name() +
                               " is longer than the " + std::to_string(kMaxMessage) +
                               " that maxP2pBytes and maxCollBytes allow"};
  }
  // Polling first would put every message behind a turn of the network, even when its grant came long ago.
  std::uint32_t buffer = find(tag);
  if (buffer == kGroup && may_go_early(size)) return send_early(data, size, tag, out);
  if (buffer == kGroup) {
    if (auto made = progress(); !made) return made;
    if (may_go_early(size)) return send_early(data, size, tag, out);
    if (buffer = find(tag); buffer == kGroup) return current_ == granted_ ? ask(size) : Status(Done{});
  }
  const GrantedBuffer& to = link().ring().grant(current_).buffers[buffer];
  size = cut(size, to);
  const std::uint32_t pieces = size >= device().settings().stripe_bytes ? link().qps() : 1;
  if (in_flight_ + pieces > kSends) return progress();
  Request* request = new_request();
  if (request == nullptr) return progress();
  request->count = 1;
  request->bytes[0] = size;
  const PieceImmediate which{current_ % kGrants, buffer, pieces};
  if (auto written = write_pieces(data, to, size, memory, which, *request); !written)
    return fail(written.error());
  note_filled(current_, 1u << buffer);
  note_sent(size);
  *out = request;
  return Done{};
}

bool Sender::may_go_early(std::uint64_t size) const {
  return size <= kEarlyBytes && current_ == granted_ && early_.has_room() && in_flight_ < kSends;
}

Status Sender::send_early(const void* data, std::uint64_t size, int tag, Request** out) {
  Request* request = new_request();
  if (request == nullptr) return progress();
  const std::uint32_t number = early_.next();
  EarlyMessage& message = link().ring().early(number);  // what was there has long arrived
  message.sequence = granted_;
  message.tag = tag;
  message.size = static_cast<std::uint32_t>(size);
  message.zero = 0;
  if (size > 0) std::memcpy(message.data, data, size);
  const Link::Write write{.from = &message,
                          .size = offsetof(EarlyMessage, data) + size,
                          .lkey = link().ring().lkey(),
                          .to = Ring::address_of_early(link().peer(), number),
                          .rkey = link().peer().ring_rkey,
                          .id = kCopiedId};
  const std::uint32_t word = PieceImmediate{number % kEarlySlots, 0, 0}.word();
  if (auto written = link().write(0, write, &word); !written) return fail(written.error());
  early_.note_sent(tag);
  ++in_flight_;
  note_posted();
  note_sent(size);
  request->count = 1;
  request->bytes[0] = size;
  *out = request;
  return Done{};
}

// A receiver that has had only short messages for a while keeps its grants back. It may have counted
// otherwise than we did, and our question may come when it has nothing to grant: so we ask again, each time
// after twice as long. A receiver that looks at nothing for an hour must have room for all our questions.
Status Sender::ask(std::uint64_t size) {
  const bool first = refused_ == 0 && short_run_ >= kShortRun && size > kEarlyBytes;
  const bool again = refused_ >= kPatience && std::has_single_bit(refused_);
  ++refused_;
  if (!(first || again) || questions_ == kMostQuestions || in_flight_ >= kSends) return Done{};
  const Link::Write nothing{.id = kCopiedId};
  const std::uint32_t word = PieceImmediate{kAsks, 0, 0}.word();
  if (auto asked = link().write(0, nothing, &word); !asked) return fail(asked.error());
  ++questions_;
  ++in_flight_;
  note_posted();
  return Done{};
}

Link::Write Sender::source(const char* data, std::uint64_t size, const ibv_mr* memory, Request& request) {
  if (size == 0) return {.id = kCopiedId};
  const std::uint32_t copy = next_copy_ % Ring::kCopies;
  if (size > Ring::kCopyBytes || copy_under_way_[copy]) {
    ++request.waiting;
    const std::uint32_t lkey = memory != nullptr ? memory->lkey : 0;
    return {.from = data, .size = size, .lkey = lkey, .id = number_of(request)};
  }
  ++next_copy_;
  copy_under_way_[copy] = true;
  Ring& ring = link().ring();
  std::memcpy(ring.copy(copy).data(), data, size);
  return {.from = ring.copy(copy).data(), .size = size, .lkey = ring.lkey(), .id = kFirstCopyId + copy};
}

Status Sender::write_pieces(const void* data, const GrantedBuffer& to, std::uint64_t size,
                            const ibv_mr* memory, PieceImmediate which, Request& request) {
  const std::uint64_t share = (size / which.pieces + kStripeUnit - 1) / kStripeUnit * kStripeUnit;
  std::uint64_t at = 0;
  for (std::uint32_t i = 0; i < which.pieces; ++i) {
    const bool last = i + 1 == which.pieces;
    const std::uint64_t part = last ? size - at : std::min(share, size - at);
    Link::Write piece = source(static_cast<const char*>(data) + at, part, memory, request);
    piece.to = to.address + at;
    piece.rkey = to.rkey;
    const std::uint32_t word = which.word();
    if (auto written = link().write(next_qp_, piece, &word); !written) return written;
    next_qp_ = (next_qp_ + 1) % link().qps();
    at += part;
    ++in_flight_;
    note_posted();
  }
  return Done{};
}

}  // namespace mrc::nccl
