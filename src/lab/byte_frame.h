// A frame of bytes on its way through a switch: what is decided about it, its beginning, and where the rest
// lies.
//
// The head is copied once, on arrival: everything that a switch may rewrite, and all that is left of a
// trimmed frame. The body stays in the port's receive memory while the frame goes straight through, and is
// copied only if it has to wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fabric/frame.h"

namespace mrc::lab {

inline constexpr std::size_t kHeadBytes = 320;

struct ByteFrame : fabric::Frame {
  std::array<std::uint8_t, kHeadBytes> head;
  const std::byte* body = nullptr;
  std::unique_ptr<std::byte[]>
      kept;  // memory of its own for a body that waits; stays with the frame for reuse
  std::uint32_t body_bytes = 0;
  std::uint32_t kept_room = 0;
  std::uint16_t head_bytes = 0;
  std::uint16_t checksum_start = 0;  // of a checksum that the sender's kernel left to its device
  std::uint16_t checksum_offset = 0;
  bool in_use = false;

  /// Copies the body out of the port's memory, which is about to be written anew.
  void keep_body();
};

/// A fixed number of frames. take() gives nothing when all are in use: the switch's memory is full.
class ByteFramePool {
 public:
  explicit ByteFramePool(std::size_t count);
  ByteFrame* take();
  void release(ByteFrame& f);

 private:
  std::vector<ByteFrame> frames_;
  std::vector<ByteFrame*> free_;
};

}  // namespace mrc::lab
