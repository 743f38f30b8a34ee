// Descriptors that a child opens in another namespace and hands out: they work wherever they are used.
#pragma once

#include "port/fd.h"

namespace mrc::view {

/// One byte, and a descriptor beside it unless it is -1. False: nobody listens.
bool send_fd(int to, int fd);
/// None when none came.
port::Fd receive_fd(int from);

}  // namespace mrc::view
