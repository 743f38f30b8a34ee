// Memory that is short: an exception in here, an errno for our callers, who are C's.
#pragma once

#include <cerrno>
#include <new>

#include "base/result.h"

namespace mrc::lib {

/// What `make` makes, a Result, or ENOMEM.
template <class Make>
auto or_no_memory(Make make) -> decltype(make()) {
  try {
    return make();
  } catch (const std::bad_alloc&) {
    return Error{ENOMEM, "no memory left"};  // short enough to need none itself
  }
}

}  // namespace mrc::lib
