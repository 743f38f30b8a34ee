// rdma-core's own libibverbs, where the machine has one and has RDMA devices: their objects are passed on to
// it.
//
// It is loaded beside this library, from its file. Provider libraries (libmlx5, ...) and librdmacm in this
// process are bound to us by name, so what they call of rdma-core's private interface is passed on as well
// (trampolines.txt).
#pragma once

#include <string>

namespace mrc::verbs {

/// Loads it if that has not been tried: only when the kernel shows RDMA devices, or MRC_REAL_VERBS names a
/// file. False when there is nothing to load.
bool load_real_library();

/// Its function of this name in its newest version, or null.
void* real_symbol(const char* name);

template <class Result, class... Parameters>
Result result_of(Result (*)(Parameters...));

/// Calls the real `name`, or returns `otherwise` with errno ENODEV where there is none.
#define MRC_PASS_ON(otherwise, name, ...)                                        \
  [&]() -> decltype(::mrc::verbs::result_of(&name)) {                            \
    const auto function = reinterpret_cast<decltype(&name)>(real_symbol(#name)); \
    if (function != nullptr) return function(__VA_ARGS__);                       \
    errno = ENODEV;                                                              \
    return otherwise;                                                            \
  }()

}  // namespace mrc::verbs
