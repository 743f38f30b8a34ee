// The plugin through one version of its table: calls that NCCL makes, spelled alike for all versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nccl/types.h"

namespace mrc::nccl::testing {

struct Facts {  // of a device
  std::string name;
  bool has_pci_path = false;
  std::uint64_t guid = 0;
  int pointers = 0, mbps = 0, port = 0, max_comms = 0, max_receives = 0;
  // Where a version does not say, what it means:
  bool registration_is_global = false, force_flush = false;
  int device_type = kDeviceHost;
  std::vector<int> parts;
  std::size_t max_p2p_bytes = 0, max_collective_bytes = 0;
  int max_multi_request = 1, rail = -1, plane = -1;
};

struct Buffer {
  void* data;
  std::size_t size;
  int tag;
  void* memory;
};

class Table {
 public:
  virtual ~Table() = default;
  virtual const char* name() const = 0;
  virtual Code init(Logger logger) = 0;
  /// What the communicator's configuration says, from here on. False: this version carries none.
  virtual bool set_traffic_class(int traffic_class) = 0;
  /// Listens and connects there, from here on.
  virtual void choose_device(int device) = 0;
  virtual Code devices(int* count) = 0;
  virtual Code facts(int device, Facts* out) = 0;
  virtual Code listen(void* handle, void** listener) = 0;
  virtual Code connect(void* handle, void** sender) = 0;
  virtual Code accept(void* listener, void** receiver) = 0;
  virtual Code register_memory(void* comm, void* data, std::size_t size, int type, void** memory) = 0;
  virtual Code deregister(void* comm, void* memory) = 0;
  virtual Code send(void* comm, const Buffer& buffer, void** request) = 0;
  virtual Code receive(void* comm, const std::vector<Buffer>& buffers, void** request) = 0;
  virtual Code flush(void* comm, const std::vector<Buffer>& buffers, void** request) = 0;
  virtual Code test(void* request, int* done, int* sizes) = 0;
  virtual Code close_send(void* comm) = 0;
  virtual Code close_receive(void* comm) = 0;
  virtual Code close_listen(void* listener) = 0;
};

/// From the library at `path`; null with a word on stderr when it has no such table. Versions 6 to 12.
std::unique_ptr<Table> load_table(const char* path, int version);

}  // namespace mrc::nccl::testing
