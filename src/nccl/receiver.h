// The receiving end of a connection: grants buffers, and knows when they are filled.
#pragma once

#include "nccl/comm.h"
#include "nccl/early.h"

namespace mrc::nccl {

class Receiver final : public Comm {
 public:
  static Result<std::unique_ptr<Link>> prepare(const Device& device, std::uint32_t qps);
  /// EPROTO when the sender that the link met has no ring for us.
  static Status check(const Introduction& sender);

  /// REQUIRES a link of prepare() that is connected.
  explicit Receiver(std::unique_ptr<Link> link) : Comm(std::move(link)) {}

  struct Buffer {
    void* data;
    std::uint64_t size;
    int tag;
    const ibv_mr* memory;
  };
  /// *request stays null while too many are out.
  Status receive(std::span<const Buffer> buffers, Request** request);

 private:
  /// A receive that waits for data.
  struct Slot {
    Request* request = nullptr;  // null: free
    bool granted = false;        // and by which grant:
    std::uint32_t grant = 0;
    std::array<std::uint32_t, kGroup> pieces{};  // that have come
    std::array<Buffer, kGroup> buffers{};
  };
  Status on_immediate(std::uint32_t immediate, std::uint32_t bytes) override;
  Status on_written(std::uint64_t id) override;
  Status on_idle() override;
  Status on_piece(const PieceImmediate& which, std::uint32_t bytes);
  Status on_early(std::uint32_t slot);
  Status on_question();
  /// All grants that are due, as far as there is room for them under way.
  Status grant();
  Status grant(Slot& slot);
  bool grants_wait() const { return short_run_ >= kShortRun; }
  /// Puts an early message into the first buffer of this receive that is its, if there is one.
  bool settle(std::uint32_t number, Slot& slot);
  Status say_what_is_done(std::uint32_t at_least);
  void note_filled(Slot& slot, std::uint32_t buffer);
  Status write(const Link::Write& what, GrantImmediate immediate);

  std::array<Slot, kRing> slots_{};
  std::array<std::uint8_t, kGrants> slot_of_{};  // of a grant
  std::uint32_t next_ = 0;                       // receive
  std::uint32_t oldest_ = 0;                     // that is not filled
  std::uint32_t ungranted_ = 0;                  // the first receive that no grant was sent for
  std::uint32_t granted_ = 0;                    // grants sent
  EarlyReceived early_;
  std::uint32_t told_done_ = 0;  // of early messages
  std::uint32_t short_run_ = 0;  // short messages in a row since the last question
};

}  // namespace mrc::nccl
