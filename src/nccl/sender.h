// The sending end of a connection: answers grants with data.
#pragma once

#include <cerrno>

#include "nccl/comm.h"
#include "nccl/early.h"

namespace mrc::nccl {

class Sender final : public Comm {
 public:
  /// A link as a sender needs it, with a ring to grant into.
  static Result<std::unique_ptr<Link>> prepare(const Device& device, std::uint32_t qps, int traffic_class);

  /// REQUIRES a link of prepare() that is connected.
  explicit Sender(std::unique_ptr<Link> link) : Comm(std::move(link)) {}

  /// *request stays null while the receiver has granted no buffer of this tag yet, unless the message is
  /// short enough to go early. A message that is copied is done at once: its repair is our business. A
  /// message that is longer than its buffer is cut there, as NCCL's own RDMA transport does.
  Status send(const void* data, std::uint64_t size, int tag, const ibv_mr* memory, Request** request);

 private:
  Status on_immediate(std::uint32_t immediate, std::uint32_t bytes) override;
  Status on_written(std::uint64_t id) override;
  Error out_of_turn() { return {EPROTO, link().peer_name() + " sent a grant out of turn"}; }
  /// The place of this tag in the oldest grant that has buffers left; kGroup when there is none.
  std::uint32_t find(int tag);
  std::uint64_t cut(std::uint64_t size, const GrantedBuffer& to);
  /// The beginning of a write. A short piece is copied while there is room: nobody waits for it then.
  Link::Write source(const char* data, std::uint64_t size, const ibv_mr* memory, Request& request);
  Status write_pieces(const void* data, const GrantedBuffer& to, std::uint64_t size, const ibv_mr* memory,
                      PieceImmediate which, Request& request);
  void note_filled(std::uint32_t sequence, std::uint32_t buffers);
  bool may_go_early(std::uint64_t size) const;
  Status send_early(const void* data, std::uint64_t size, int tag, Request** out);
  /// For grants that the receiver may be keeping back.
  Status ask(std::uint64_t size);
  void note_sent(std::uint64_t size);

  std::uint32_t granted_ = 0;                  // grants that have come
  std::uint32_t current_ = 0;                  // the oldest that has buffers left
  std::array<std::uint8_t, kGrants> empty_{};  // of each: a bit for each buffer that nothing was sent to
  EarlySent early_;
  std::uint32_t short_run_ = 0;  // short messages in a row
  std::uint64_t refused_ = 0;    // sends in a row that found no grant
  std::uint32_t questions_ = 0;  // since the receiver was heard of
  std::uint32_t in_flight_ = 0;  // pieces
  std::uint32_t next_qp_ = 0;
  std::array<bool, Ring::kCopies> copy_under_way_{};
  std::uint32_t next_copy_ = 0;
};

}  // namespace mrc::nccl
