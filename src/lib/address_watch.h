// Which addresses come and go on this host, told by the kernel (rtnetlink). No privileges needed.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "lib/device_types.h"
#include "port/fd.h"

namespace mrc::lib {

struct AddressChange {
  std::uint32_t interface = 0;  // index
  Gid address{};
  bool usable = false;  // it is there, and not on trial
};

class AddressWatch {
 public:
  /// Watches the caller's network namespace.
  static Result<AddressWatch> open();

  int fd() const { return socket_.get(); }
  /// Appends what changed since the last call. False: the kernel told too much too fast, and news was lost.
  bool read(std::vector<AddressChange>& out);

 private:
  explicit AddressWatch(port::Fd socket) : socket_(std::move(socket)) {}

  port::Fd socket_;
};

}  // namespace mrc::lib
