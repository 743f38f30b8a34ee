// What NCCL and a plugin share whatever the version: result codes, the logger, constants.
#pragma once

#include <cstdint>

namespace mrc::nccl {

enum Code : int {
  kSuccess,
  kCudaError,
  kSystemError,
  kInternalError,
  kInvalidArgument,
  kInvalidUsage,
  kRemoteError
};

enum LogLevel : int { kLogNone, kLogVersion, kLogWarn, kLogInfo, kLogAbort, kLogTrace };
inline constexpr unsigned long kSubsysInit = 1, kSubsysNet = 16;

using Logger = void (*)(LogLevel level, unsigned long subsystems, const char* file, int line,
                        const char* format, ...);
using ProfilerCallback = Code (*)(void** event, int type, void* parent, std::int64_t plugin, void* data);

inline constexpr int kHandleBytes = 128;
inline constexpr int kPtrHost = 1, kPtrCuda = 2, kPtrDmabuf = 4;
inline constexpr int kDeviceHost = 0;  // no network code on the GPU
inline constexpr int kTrafficClassUndefined = -1;

}  // namespace mrc::nccl
