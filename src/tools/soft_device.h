// The soft device that a command works with: which one, opened, and its address.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mrc::tools {

/// Makes the device that serves `address` the process's: named by `device` or MRC_DEVICES, else the interface
/// that holds the address. Before the device is opened.
Status choose_device(const std::string& device, const std::string& address);
/// The first soft device.
Result<ibv_context*> open_soft_device();
/// Of its own address, as RoCE v2, on port 1.
std::uint8_t gid_index_of(ibv_context* verbs);

}  // namespace mrc::tools
