// The one file that knows NCCL's versions: a table of functions for each, filled with the plugin's own.
#include <cstring>

#include "nccl/abi.h"
#include "nccl/lanes.h"
#include "nccl/plugin.h"
#include "nccl/protocol.h"

namespace mrc::nccl {
namespace {

using namespace abi;

constexpr const char* kName = "OpenMRC";

// --- properties: each version adds fields ---

template <class P>
void fill_common(P& to, const Properties& from, int device) {
  to.name = const_cast<char*>(from.name.c_str());
  to.pci_path = nullptr;  // a device of software
  to.guid = guid_of(from.guid, static_cast<std::size_t>(device));
  to.pointers = kPtrHost;
  to.mbps = from.mbps;
  to.port = 1;  // the ports act as one
  to.latency_us = from.latency_us;
  to.max_comms = from.max_comms;
  to.max_receives = kGroup;
}
void fill(PropertiesV6& to, const Properties& from, int device) { fill_common(to, from, device); }
void fill(PropertiesV7& to, const Properties& from, int device) {
  fill_common(to.base, from, device);
  to.device_type = kDeviceHost;
}
void fill(PropertiesV8& to, const Properties& from, int device) {
  fill_common(to, from, device);
  to.registration_is_global = 0;  // memory is one lane's, and comms of one device take turns with them
  to.device_type = kDeviceHost;
}
template <class P>
void fill_since_v9(P& to, const Properties& from, int device) {
  fill_common(to, from, device);
  to.registration_is_global = 0;
  to.device_type = kDeviceHost;
  to.parts = {1, {device}};
  to.max_p2p_bytes = to.max_collective_bytes = kMaxMessage;
}
void fill(PropertiesV9& to, const Properties& from, int device) { fill_since_v9(to, from, device); }
void fill(PropertiesV11& to, const Properties& from, int device) {
  fill(to.base, from, device);
  to.max_multi_request = 1;
}
void fill(PropertiesV12& to, const Properties& from, int device) {
  fill_since_v9(to, from, device);
  to.max_multi_request = 1;
  to.rail = to.plane = kNoId;  // it has all planes
}
template <class P>
Code get_properties(int device, P* to) {
  const Properties* from = properties(device);
  if (from == nullptr) return kInvalidArgument;
  std::memset(static_cast<void*>(to), 0, sizeof *to);
  fill(*to, *from, device);
  return kSuccess;
}

// --- init, listen, connect, accept ---

Code init_v10(Logger logger, ProfilerCallback) { return init(logger); }
/// The context that v11 and v12 hand back to listen and connect carries the traffic class.
Code init_v11(void** context, std::uint64_t, CommConfig* config, Logger logger, ProfilerCallback) {
  *context = nullptr;
  if (const Code code = init(logger); code != kSuccess) return code;
  *context = new CommConfig{config != nullptr ? config->traffic_class : kTrafficClassUndefined};
  return kSuccess;
}
Code finalize(void* context) {
  delete static_cast<CommConfig*>(context);
  return kSuccess;
}
Code listen_v11(void*, int device, void* handle, void** listener) { return listen(device, handle, listener); }

Code connect_v6(int device, void* handle, void** sender) {
  return connect(device, kTrafficClassUndefined, handle, sender);
}
Code connect_v7(int device, void* handle, void** sender, DeviceHandle**) {
  return connect_v6(device, handle, sender);
}
Code connect_v10(int device, CommConfig* config, void* handle, void** sender, DeviceHandle**) {
  return connect(device, config != nullptr ? config->traffic_class : kTrafficClassUndefined, handle, sender);
}
Code connect_v11(void* context, int device, void* handle, void** sender, DeviceHandle** on_gpu) {
  return connect_v10(device, static_cast<CommConfig*>(context), handle, sender, on_gpu);
}
Code accept_v7(void* listener, void** receiver, DeviceHandle**) { return accept(listener, receiver); }

// --- memory and data ---

Code register_v6(void* comm, void* data, int size, int type, void** memory) {
  return size < 0 ? kInvalidArgument
                  : register_memory(comm, data, static_cast<std::size_t>(size), type, memory);
}
Code register_dmabuf(void*, void*, std::size_t, int, std::uint64_t, int, void** memory) {
  *memory = nullptr;
  return kInternalError;  // never offered
}
Code send_v6(void* comm, void* data, int size, int tag, void* memory, void** request) {
  return size < 0 ? kInvalidArgument : send(comm, data, static_cast<std::size_t>(size), tag, memory, request);
}
Code send_v10(void* comm, void* data, std::size_t size, int tag, void* memory, void*, void** request) {
  return send(comm, data, size, tag, memory, request);
}
Code receive_v10(void* comm, int count, void** data, std::size_t* sizes, int* tags, void** memories, void**,
                 void** request) {
  return receive(comm, count, data, sizes, tags, memories, request);
}
Code flush_v6(void*, int, void**, int*, void**, void** request) { return flush(request); }

}  // namespace
}  // namespace mrc::nccl

// What a table leaves out is null, which is how NCCL is told that the plugin does not offer it: code on the
// GPU, devices made of devices, attributes.
extern "C" {
using namespace mrc::nccl;
#define OPENMRC_EXPORT __attribute__((visibility("default")))

OPENMRC_EXPORT abi::PluginV6 ncclNetPlugin_v6 = {
    kName,           init,       count_devices, get_properties<abi::PropertiesV6>,
    listen,          connect_v6, accept,        register_v6,
    register_dmabuf, deregister, send_v6,       receive<int>,
    flush_v6,        test,       close_comm,    close_comm,
    close_listener};

OPENMRC_EXPORT abi::PluginV7 ncclNetPlugin_v7 = {
    kName,           init,       count_devices, get_properties<abi::PropertiesV7>,
    listen,          connect_v7, accept_v7,     register_v6,
    register_dmabuf, deregister, send_v6,       receive<int>,
    flush_v6,        test,       close_comm,    close_comm,
    close_listener,  nullptr,    nullptr};

OPENMRC_EXPORT abi::PluginV8 ncclNetPlugin_v8 = {
    kName,           init,       count_devices, get_properties<abi::PropertiesV8>,
    listen,          connect_v7, accept_v7,     register_memory,
    register_dmabuf, deregister, send_v6,       receive<int>,
    flush_v6,        test,       close_comm,    close_comm,
    close_listener,  nullptr,    nullptr};

OPENMRC_EXPORT abi::PluginV9 ncclNetPlugin_v9 = {
    kName,           init,       count_devices, get_properties<abi::PropertiesV9>,
    listen,          connect_v7, accept_v7,     register_memory,
    register_dmabuf, deregister, send,          receive<std::size_t>,
    flush_v6,        test,       close_comm,    close_comm,
    close_listener,  nullptr,    nullptr,       nullptr};

OPENMRC_EXPORT abi::PluginV10 ncclNetPlugin_v10 = {
    kName,           init_v10,    count_devices, get_properties<abi::PropertiesV9>,
    listen,          connect_v10, accept_v7,     register_memory,
    register_dmabuf, deregister,  send_v10,      receive_v10,
    flush_v6,        test,        close_comm,    close_comm,
    close_listener,  nullptr,     nullptr,       nullptr};

OPENMRC_EXPORT abi::PluginV11 ncclNetPlugin_v11 = {
    kName,           init_v11,    count_devices, get_properties<abi::PropertiesV11>,
    listen_v11,      connect_v11, accept_v7,     register_memory,
    register_dmabuf, deregister,  send_v10,      receive_v10,
    flush_v6,        test,        close_comm,    close_comm,
    close_listener,  nullptr,     nullptr,       nullptr,
    finalize,        nullptr};

OPENMRC_EXPORT abi::PluginV12 ncclNetPlugin_v12 = {
    kName,           init_v11,    count_devices, get_properties<abi::PropertiesV12>,
    listen_v11,      connect_v11, accept_v7,     register_memory,
    register_dmabuf, deregister,  send_v10,      receive_v10,
    flush_v6,        test,        close_comm,    close_comm,
    close_listener,  nullptr,     nullptr,       nullptr,
    finalize,        nullptr};
}
