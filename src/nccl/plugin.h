// The plugin without versions: what NCCL can ask for, with the error turned into NCCL's code at this edge and
// nowhere else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/device.h"
#include "nccl/types.h"

namespace mrc::nccl {

Code init(Logger logger);
Code count_devices(int* count);
/// Null when there is no such device.
const Properties* properties(int device);

Code listen(int device, void* handle, void** listener);
Code connect(int device, int traffic_class, void* handle, void** sender);
Code accept(void* listener, void** receiver);
Code close_listener(void* listener);
/// Of a sender or a receiver.
Code close_comm(void* comm);

Code register_memory(void* comm, void* data, std::size_t size, int type, void** memory);
Code deregister(void* comm, void* memory);

Code send(void* comm, void* data, std::size_t size, int tag, void* memory, void** request);
/// `Size` is int up to v8 and size_t from v9 on.
template <class Size>
Code receive(void* comm, int count, void** data, Size* sizes, int* tags, void** memories, void** request);
Code flush(void** request);
Code test(void* request, int* done, int* sizes);

}  // namespace mrc::nccl
