// The receiving end of a connection: grants buffers, and knows when they are filled.
#pragma once

#include <optional>

#include "nccl/comm.h"

namespace mrc::nccl {

class Receiver final : public Comm {
 public:
  static Result<std::unique_ptr<Link>> prepare(const Device& device, std::uint32_t qps);
  static Introduction introduce(const Link& link, std::uint64_t cookie);
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
  /// *request stays null while too many grants are out.
  Status receive(std::span<const Buffer> buffers, Request** request);

 private:
  /// A grant that is out.
  struct Slot {
    Request* request = nullptr;                  // null: free
    std::array<std::uint32_t, kGroup> pieces{};  // that have come
    std::array<Buffer, kGroup> buffers{};
  };
  Status on_immediate(std::uint32_t immediate, std::uint32_t bytes) override;
  Status on_written(std::uint64_t id) override;
  Status grant(std::span<const Buffer> buffers);
  Status on_early(std::uint32_t slot);
  /// Puts the message that came early into the buffer that is its, if that grant is out.
  void settle_early(std::uint32_t sequence);
  void note_filled(Slot& slot, std::uint32_t buffer);

  std::array<Slot, kRing> slots_{};
  std::uint32_t sequence_ = 0;          // of the next grant
  std::optional<std::uint32_t> early_;  // the slot of a message that came early and has no buffer yet
};

}  // namespace mrc::nccl
