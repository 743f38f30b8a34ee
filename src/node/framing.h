// Messages on the byte stream of mrcd's socket: a header of 12 bytes, then the body.
//
//   0 length of the body   4 type   6 protocol version   8 number of the request, 0: none little-endian
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "node/messages.h"

namespace mrc::node {

inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kMaxBodyBytes = 1 << 20;

/// Appends the message to `out`.
void emit_message(const Message& message, std::vector<std::uint8_t>& out);

/// A body of this type; nothing when it is not exactly that.
std::optional<Body> parse_body(std::uint16_t type, std::span<const std::uint8_t> bytes);

/// Collects bytes as they arrive and hands out whole messages. What is malformed stays so: close the
/// connection.
class MessageStream {
 public:
  enum class Next : std::uint8_t { message, more, malformed };

  void append(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  Next next(Message& out);
  std::size_t buffered() const { return bytes_.size() - taken_; }
  void clear() { bytes_.clear(), taken_ = 0; }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t taken_ = 0;  // of those, handed out
};

}  // namespace mrc::node
