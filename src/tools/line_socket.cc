#include "tools/line_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace mrc::tools {

Status LineSocket::wait(short events, int timeout_ms) const {
  pollfd fd{socket_.get(), events, 0};
  int n;
  do {
    n = ::poll(&fd, 1, timeout_ms);
  } while (n < 0 && errno == EINTR);
  if (n > 0) return Done{};
  return Error{ETIMEDOUT, "no answer within " + std::to_string(timeout_ms) + " ms"};
}

Status LineSocket::send(std::string line, int timeout_ms) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n =
        ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) sent += static_cast<std::size_t>(n);
    if (n < 0 && errno != EAGAIN && errno != EINTR) return port::errno_error("send");
    if (n < 0) {
      if (auto ready = wait(POLLOUT, timeout_ms); !ready) return ready;
    }
  }
  return Done{};
}

Result<std::string> LineSocket::receive(std::size_t most, int timeout_ms) {
  while (true) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    if (buffer_.size() > most)
      return Error{EMSGSIZE, "a line of more than " + std::to_string(most) + " bytes"};
    if (auto ready = wait(POLLIN, timeout_ms); !ready) return ready.error();
    char bytes[4096];
    const ssize_t n = ::recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (n == 0) return Error{ECONNRESET, "the other side has gone"};
    if (n < 0 && errno != EAGAIN && errno != EINTR) return port::errno_error("receive");
    if (n > 0) buffer_.append(bytes, static_cast<std::size_t>(n));
  }
}

}  // namespace mrc::tools
