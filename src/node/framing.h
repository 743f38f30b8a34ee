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

/// Appends the message to `out`. `version`: for a peer that speaks another one; Answer is the same in all.
void emit_message(const Message& message, std::vector<std::uint8_t>& out, std::uint32_t version = kProtocol);

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
  /// Who sent what is malformed speaks another version, it seems: that one, and what the message was called.
  struct Foreign {
    std::uint32_t version = 0, id = 0;
  };
  const std::optional<Foreign>& foreign() const { return foreign_; }
  std::size_t buffered() const { return bytes_.size() - taken_; }
  void clear() { bytes_.clear(), taken_ = 0, foreign_.reset(); }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t taken_ = 0;  // of those, handed out
  std::optional<Foreign> foreign_;
};

}  // namespace mrc::node
