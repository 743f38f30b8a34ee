#include "lab/byte_frame.h"

#include <cstring>

namespace mrc::lab {

void ByteFrame::keep_body() {
  if (body == kept.get() || body_bytes == 0) return;
  if (kept_room < body_bytes) {
    kept = std::make_unique<std::byte[]>(body_bytes);
    kept_room = body_bytes;
  }
  std::memcpy(kept.get(), body, body_bytes);
  body = kept.get();
}

ByteFramePool::ByteFramePool(std::size_t count) : frames_(count) {
  free_.reserve(count);
  for (ByteFrame& f : frames_) free_.push_back(&f);
}

ByteFrame* ByteFramePool::take() {
  if (free_.empty()) return nullptr;
  ByteFrame* f = free_.back();
  free_.pop_back();
  f->in_use = true;
  return f;
}

void ByteFramePool::release(ByteFrame& f) {
  f.in_use = false;
  free_.push_back(&f);
}

}  // namespace mrc::lab
