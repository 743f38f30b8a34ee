// Symbols that rdma-core's libibverbs offers and that have no meaning for a soft device: calls jump to the
// real one.
//
// The list is trampolines.txt ("name version"); the build turns it into one jump each, through a table that
// is filled when the real library is loaded. Before that, or without it, they return ENOSYS, which nobody can
// see: such a call needs an object that only the real library makes.
#pragma once

namespace mrc::verbs {

/// Looks all of them up in the library behind this dlopen handle, and passes on the providers registered so
/// far.
void connect_trampolines(void* handle);

}  // namespace mrc::verbs
