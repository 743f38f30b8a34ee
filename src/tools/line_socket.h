// Lines of text over TCP, each within a time and a length, or not at all.
#pragma once

#include <string>

#include "base/result.h"
#include "port/fd.h"

namespace mrc::tools {

class LineSocket {
 public:
  explicit LineSocket(port::Fd socket) : socket_(std::move(socket)) {}

  Status send(std::string line, int timeout_ms);
  /// Without its newline. ECONNRESET when the peer has gone; timeout_ms < 0 waits for ever.
  Result<std::string> receive(std::size_t most, int timeout_ms);

 private:
  Status wait(short events, int timeout_ms) const;

  port::Fd socket_;
  std::string buffer_;
};

}  // namespace mrc::tools
