// A file descriptor that closes itself, and the words for a system call that failed.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/result.h"
#include "port/no_cancel.h"

namespace mrc::port {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset(int fd = -1) {
    if (fd_ >= 0) close();
    fd_ = fd;
  }

 private:
  void close() const {
    const NoCancel whole;  // destructors close, and nothing leaves them
    ::close(fd_);
  }

  int fd_ = -1;
};

/// "bind 10.0.0.1 port 4791: Address already in use", with the code beside it; where descriptors ran out, with
/// the limit to raise.
Error errno_error(const std::string& doing, int code = errno);
inline bool is_out_of_descriptors(const Error& error) {
  return error.code == EMFILE || error.code == ENFILE;
}

}  // namespace mrc::port
