#include "nccl/plugin.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "nccl/dialling.h"
#include "nccl/farewell.h"
#include "nccl/listener.h"
#include "nccl/log.h"

namespace mrc::nccl {
namespace {

Code code_of(const Error& error) {
  switch (error.code) {
    case EINVAL: return kInvalidArgument;
    case EMSGSIZE: return kInvalidUsage;
    case ECONNRESET:
    case ECONNREFUSED:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EPROTO:
    case ETIMEDOUT: return kRemoteError;
    default: return kSystemError;
  }
}

Code complain(const Error& error) {
  warn(error.what);
  return code_of(error);
}
Code complain(const char* what) { return complain(Error{EINVAL, what}); }

/// What a comm has failed with is in the log already; what its caller did wrong is not.
Code answer(const Status& done) {
  if (done) return kSuccess;
  const int code = done.error().code;
  return code == EINVAL || code == EMSGSIZE ? complain(done.error()) : code_of(done.error());
}

Result<const Adapter*> adapter_at(int index) {
  const auto adapters = open_adapters();
  if (!adapters) return adapters.error();
  if (index < 0 || static_cast<std::size_t>(index) >= (*adapters)->size()) {
    return Error{EINVAL, "there is no device " + std::to_string(index)};
  }
  return (**adapters)[static_cast<std::size_t>(index)].get();
}

}  // namespace

Code init(Logger logger) {
  set_logger(logger);
  const auto adapters = open_adapters();
  if (!adapters) return complain(adapters.error());
  for (const auto& adapter : **adapters) {
    const Properties& p = adapter->properties();
    std::string addresses;
    for (const IpAddress& a : adapter->lanes().front()->addresses()) addresses += " " + text_of(a);
    info("device " + p.name + ": ports " + std::to_string(p.ports) + ", " + std::to_string(p.mbps) +
         " Mb/s," + addresses + ", threads " + std::to_string(adapter->lanes().size()) + ", spray unit " +
         (std::getenv("MRC_SPRAY_UNIT") != nullptr ? std::getenv("MRC_SPRAY_UNIT") : "1"));
  }
  return kSuccess;
}

Code count_devices(int* count) {
  const auto adapters = open_adapters();
  *count = adapters ? static_cast<int>((*adapters)->size()) : 0;
  return kSuccess;
}

const Properties* properties(int index) {
  const auto adapter = adapter_at(index);
  return adapter ? &(*adapter)->properties() : nullptr;
}

Code listen(int index, void* handle, void** out) {
  *out = nullptr;
  const auto adapter = adapter_at(index);
  if (!adapter) return complain(adapter.error());
  auto listener = Listener::make((*adapter)->to_listen());
  if (!listener) return complain(listener.error());
  const Handle made = (*listener)->handle();
  std::memset(handle, 0, kHandleBytes);
  std::memcpy(handle, &made, sizeof made);
  *out = listener->release();
  return kSuccess;
}

Code connect(int index, int traffic_class, void* handle, void** out) {
  *out = nullptr;
  traffic_class = std::max(traffic_class, 0);  // NCCL has two negative ways to say that nobody set it
  if (traffic_class > UINT8_MAX) {
    const std::string what = "trafficClass " + std::to_string(traffic_class) + " of this communicator";
    return complain(Error{EINVAL, what + " is none: 0 to 255, or leave it out"});
  }
  const auto adapter = adapter_at(index);
  if (!adapter) return complain(adapter.error());
  Handle copy;
  std::memcpy(&copy, handle, sizeof copy);  // NCCL's bytes need not be aligned
  auto sender = dial(**adapter, copy, traffic_class);
  std::memcpy(handle, &copy, sizeof copy);
  if (!sender) return complain(sender.error());
  *out = static_cast<Comm*>(sender->release());
  return kSuccess;
}

Code accept(void* listener, void** out) {
  *out = nullptr;
  if (listener == nullptr) return complain("accept without a listener");
  auto receiver = static_cast<Listener*>(listener)->accept();
  if (!receiver) return complain(receiver.error());
  *out = static_cast<Comm*>(receiver->release());
  return kSuccess;
}

Code close_listener(void* listener) {
  delete static_cast<Listener*>(listener);
  return kSuccess;
}

Code close_comm(void* comm) {
  const std::unique_ptr<Comm> gone(static_cast<Comm*>(comm));
  if (gone != nullptr) part_with(gone->release_link());
  return kSuccess;
}

Code register_memory(void* comm, void* data, std::size_t size, int type, void** memory) {
  *memory = nullptr;
  if (comm == nullptr) return complain("memory is registered without a comm");
  if (type != kPtrHost)
    return complain("only host memory can be registered: this device does not reach into GPUs");
  if (size == 0) return kSuccess;  // nothing will ever be moved there
  const auto mr = static_cast<Comm*>(comm)->device().register_memory(data, size);
  if (!mr) return complain(mr.error());
  *memory = *mr;
  return kSuccess;
}

Code deregister(void*, void* memory) {
  if (memory == nullptr) return kSuccess;
  const int error = ::ibv_dereg_mr(static_cast<ibv_mr*>(memory));
  return error == 0 ? kSuccess : complain(Error{error, "can't deregister memory"});
}

Code send(void* comm, void* data, std::size_t size, int tag, void* memory, void** out) {
  Request* request = nullptr;
  const auto sent = static_cast<Sender*>(static_cast<Comm*>(comm))
                        ->send(data, size, tag, static_cast<ibv_mr*>(memory), &request);
  *out = request;
  return answer(sent);
}

template <class Size>
Code receive(void* comm, int count, void** data, Size* sizes, int* tags, void** memories, void** out) {
  *out = nullptr;  // NCCL may have put a wish here, which may be ignored
  if (count < 1 || count > static_cast<int>(kGroup)) return complain("a receive must have 1 to 8 buffers");
  std::array<Receiver::Buffer, kGroup> buffers;
  const auto n = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < n; ++i) {
    const auto* memory = memories != nullptr ? static_cast<ibv_mr*>(memories[i]) : nullptr;
    buffers[i] = {data[i], static_cast<std::uint64_t>(sizes[i]), tags[i], memory};
  }
  Request* request = nullptr;
  const auto received =
      static_cast<Receiver*>(static_cast<Comm*>(comm))->receive({buffers.data(), n}, &request);
  *out = request;
  return answer(received);
}
template Code receive<int>(void*, int, void**, int*, int*, void**, void**);
template Code receive<std::size_t>(void*, int, void**, std::size_t*, int*, void**, void**);

// Data is in host memory when its completion is: there is nothing to flush.
Code flush(void** request) {
  *request = nullptr;
  return kSuccess;
}

Code test(void* request, int* done, int* sizes) {
  auto* ours = static_cast<Request*>(request);
  const auto tested = ours->comm->test(*ours, done, sizes);
  return answer(tested);
}

}  // namespace mrc::nccl
