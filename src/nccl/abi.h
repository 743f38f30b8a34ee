// What NCCL and a network plugin agree on, ABI v6 to v12, as far as binary layout goes: our own declarations
// of those facts. Only versions.cc and the tests include this; the rest of the plugin knows no version.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nccl/types.h"

namespace mrc::nccl::abi {

template <int kMost>
struct VirtualDeviceOf {  // several devices that act as one
  int count;
  int devices[kMost];
};
using VirtualDevice = VirtualDeviceOf<4>;  // up to v11
using VirtualDeviceV12 = VirtualDeviceOf<8>;
struct CommConfig {  // v10: with connect; v11 and newer: with init
  int traffic_class;
};
struct DeviceHandle;  // for networks with code on the GPU: never ours

struct PropertiesV6 {
  char* name;
  char* pci_path;
  std::uint64_t guid;
  int pointers;
  int mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_receives;
};
struct PropertiesV7 {
  PropertiesV6 base;
  int device_type;
  int device_version;
};
struct PropertiesV8 {
  char* name;
  char* pci_path;
  std::uint64_t guid;
  int pointers;
  int registration_is_global;
  int mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_receives;
  int device_type;
  int device_version;
};
struct PropertiesV9 {  // and v10
  char* name;
  char* pci_path;
  std::uint64_t guid;
  int pointers;
  int registration_is_global;
  int force_flush;
  int mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_receives;
  int device_type;
  int device_version;
  VirtualDevice parts;
  std::size_t max_p2p_bytes;
  std::size_t max_collective_bytes;
};
struct PropertiesV11 {
  PropertiesV9 base;
  int max_multi_request;
};

struct PropertiesV12 {
  char* name;
  char* pci_path;
  std::uint64_t guid;
  int pointers;
  int registration_is_global;
  int force_flush;
  int mbps;
  int port;
  float latency_us;
  int max_comms;
  int max_receives;
  int device_type;
  int device_version;
  VirtualDeviceV12 parts;
  std::size_t max_p2p_bytes;
  std::size_t max_collective_bytes;
  int max_multi_request;
  std::int16_t rail;   // of a fabric where each NIC of a host has its own; kNoId: nobody says
  std::int16_t plane;  // the same
};
inline constexpr std::int16_t kNoId = -1;

struct NetAttributes;  // v11 and newer: hints on the traffic to come

struct PluginV6 {
  const char* name;
  Code (*init)(Logger);
  Code (*devices)(int*);
  Code (*properties)(int, PropertiesV6*);
  Code (*listen)(int, void*, void**);
  Code (*connect)(int, void*, void**);
  Code (*accept)(void*, void**);
  Code (*register_memory)(void*, void*, int, int, void**);
  Code (*register_dmabuf)(void*, void*, std::size_t, int, std::uint64_t, int, void**);
  Code (*deregister)(void*, void*);
  Code (*send)(void*, void*, int, int, void*, void**);
  Code (*receive)(void*, int, void**, int*, int*, void**, void**);
  Code (*flush)(void*, int, void**, int*, void**, void**);
  Code (*test)(void*, int*, int*);
  Code (*close_send)(void*);
  Code (*close_receive)(void*);
  Code (*close_listen)(void*);
};

struct PluginV7 {
  const char* name;
  Code (*init)(Logger);
  Code (*devices)(int*);
  Code (*properties)(int, PropertiesV7*);
  Code (*listen)(int, void*, void**);
  Code (*connect)(int, void*, void**, DeviceHandle**);
  Code (*accept)(void*, void**, DeviceHandle**);
  Code (*register_memory)(void*, void*, int, int, void**);
  Code (*register_dmabuf)(void*, void*, std::size_t, int, std::uint64_t, int, void**);
  Code (*deregister)(void*, void*);
  Code (*send)(void*, void*, int, int, void*, void**);
  Code (*receive)(void*, int, void**, int*, int*, void**, void**);
  Code (*flush)(void*, int, void**, int*, void**, void**);
  Code (*test)(void*, int*, int*);
  Code (*close_send)(void*);
  Code (*close_receive)(void*);
  Code (*close_listen)(void*);
  Code (*device_memory)(void*, void*, void**);
  Code (*receive_consumed)(void*, int, void*);
};

struct PluginV8 {
  const char* name;
  Code (*init)(Logger);
  Code (*devices)(int*);
  Code (*properties)(int, PropertiesV8*);
  Code (*listen)(int, void*, void**);
  Code (*connect)(int, void*, void**, DeviceHandle**);
  Code (*accept)(void*, void**, DeviceHandle**);
  Code (*register_memory)(void*, void*, std::size_t, int, void**);
  Code (*register_dmabuf)(void*, void*, std::size_t, int, std::uint64_t, int, void**);
  Code (*deregister)(void*, void*);
  Code (*send)(void*, void*, int, int, void*, void**);
  Code (*receive)(void*, int, void**, int*, int*, void**, void**);
  Code (*flush)(void*, int, void**, int*, void**, void**);
  Code (*test)(void*, int*, int*);
  Code (*close_send)(void*);
  Code (*close_receive)(void*);
  Code (*close_listen)(void*);
  Code (*device_memory)(void*, void*, void**);
  Code (*receive_consumed)(void*, int, void*);
};

struct PluginV9 {
  const char* name;
  Code (*init)(Logger);
  Code (*devices)(int*);
  Code (*properties)(int, PropertiesV9*);
  Code (*listen)(int, void*, void**);
  Code (*connect)(int, void*, void**, DeviceHandle**);
  Code (*accept)(void*, void**, DeviceHandle**);
  Code (*register_memory)(void*, void*, std::size_t, int, void**);
  Code (*register_dmabuf)(void*, void*, std::size_t, int, std::uint64_t, int, void**);
  Code (*deregister)(void*, void*);
  Code (*send)(void*, void*, std::size_t, int, void*, void**);
  Code (*receive)(void*, int, void**, std::size_t*, int*, void**, void**);
  Code (*flush)(void*, int, void**, int*, void**, void**);
  Code (*test)(void*, int*, int*);
  Code (*close_send)(void*);
  Code (*close_receive)(void*);
  Code (*close_listen)(void*);
  Code (*device_memory)(void*, void*, void**);
  Code (*receive_consumed)(void*, int, void*);
  Code (*make_virtual_device)(int*, VirtualDevice*);
};

struct PluginV10 {
  const char* name;
  Code (*init)(Logger, ProfilerCallback);
  Code (*devices)(int*);
  Code (*properties)(int, PropertiesV9*);
  Code (*listen)(int, void*, void**);
  Code (*connect)(int, CommConfig*, void*, void**, DeviceHandle**);
  Code (*accept)(void*, void**, DeviceHandle**);
  Code (*register_memory)(void*, void*, std::size_t, int, void**);
  Code (*register_dmabuf)(void*, void*, std::size_t, int, std::uint64_t, int, void**);
  Code (*deregister)(void*, void*);
  Code (*send)(void*, void*, std::size_t, int, void*, void*, void**);
  Code (*receive)(void*, int, void**, std::size_t*, int*, void**, void**, void**);
  Code (*flush)(void*, int, void**, int*, void**, void**);
  Code (*test)(void*, int*, int*);
  Code (*close_send)(void*);
  Code (*close_receive)(void*);
  Code (*close_listen)(void*);
  Code (*device_memory)(void*, void*, void**);
  Code (*receive_consumed)(void*, int, void*);
  Code (*make_virtual_device)(int*, VirtualDevice*);
};

struct PluginV11 {
  const char* name;
  Code (*init)(void**, std::uint64_t, CommConfig*, Logger, ProfilerCallback);
  Code (*devices)(int*);
  Code (*properties)(int, PropertiesV11*);
  Code (*listen)(void*, int, void*, void**);
  Code (*connect)(void*, int, void*, void**, DeviceHandle**);
  Code (*accept)(void*, void**, DeviceHandle**);
  Code (*register_memory)(void*, void*, std::size_t, int, void**);
  Code (*register_dmabuf)(void*, void*, std::size_t, int, std::uint64_t, int, void**);
  Code (*deregister)(void*, void*);
  Code (*send)(void*, void*, std::size_t, int, void*, void*, void**);
  Code (*receive)(void*, int, void**, std::size_t*, int*, void**, void**, void**);
  Code (*flush)(void*, int, void**, int*, void**, void**);
  Code (*test)(void*, int*, int*);
  Code (*close_send)(void*);
  Code (*close_receive)(void*);
  Code (*close_listen)(void*);
  Code (*device_memory)(void*, void*, void**);
  Code (*receive_consumed)(void*, int, void*);
  Code (*make_virtual_device)(int*, VirtualDevice*);
  Code (*finalize)(void*);
  Code (*set_attributes)(void*, NetAttributes*);
};

struct PluginV12 {
  const char* name;
  Code (*init)(void**, std::uint64_t, CommConfig*, Logger, ProfilerCallback);
  Code (*devices)(int*);
  Code (*properties)(int, PropertiesV12*);
  Code (*listen)(void*, int, void*, void**);
  Code (*connect)(void*, int, void*, void**, DeviceHandle**);
  Code (*accept)(void*, void**, DeviceHandle**);
  Code (*register_memory)(void*, void*, std::size_t, int, void**);
  Code (*register_dmabuf)(void*, void*, std::size_t, int, std::uint64_t, int, void**);
  Code (*deregister)(void*, void*);
  Code (*send)(void*, void*, std::size_t, int, void*, void*, void**);
  Code (*receive)(void*, int, void**, std::size_t*, int*, void**, void**, void**);
  Code (*flush)(void*, int, void**, int*, void**, void**);
  Code (*test)(void*, int*, int*);
  Code (*close_send)(void*);
  Code (*close_receive)(void*);
  Code (*close_listen)(void*);
  Code (*device_memory)(void*, void*, void**);
  Code (*receive_consumed)(void*, int, void*);
  Code (*make_virtual_device)(int*, VirtualDeviceV12*);
  Code (*finalize)(void*);
  Code (*set_attributes)(void*, NetAttributes*);
};

}  // namespace mrc::nccl::abi
