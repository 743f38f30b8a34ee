#include "nccl/table.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <type_traits>

#include "nccl/abi.h"

namespace mrc::nccl::testing {
namespace {

template <class P>
Facts facts_of(const P& p) {
  Facts f{.name = p.name,
          .has_pci_path = p.pci_path != nullptr,
          .guid = p.guid,
          .pointers = p.pointers,
          .mbps = p.mbps,
          .port = p.port,
          .max_comms = p.max_comms,
          .max_receives = p.max_receives};
  if constexpr (requires { p.registration_is_global; }) {
    f.registration_is_global = p.registration_is_global != 0;
    f.device_type = p.device_type;
  }
  if constexpr (requires { p.parts; }) {
    f.force_flush = p.force_flush != 0;
    f.parts.assign(p.parts.devices, p.parts.devices + p.parts.count);
    f.max_p2p_bytes = p.max_p2p_bytes;
    f.max_collective_bytes = p.max_collective_bytes;
  }
  return f;
}
Facts facts_of(const abi::PropertiesV7& p) {
  Facts f = facts_of(p.base);
  f.device_type = p.device_type;
  return f;
}
Facts facts_of(const abi::PropertiesV11& p) {
  Facts f = facts_of(p.base);
  f.max_multi_request = p.max_multi_request;
  return f;
}
Facts facts_of(const abi::PropertiesV12& p) {
  Facts f = facts_of<abi::PropertiesV12>(p);
  f.max_multi_request = p.max_multi_request;
  f.rail = p.rail;
  f.plane = p.plane;
  return f;
}

/// Sizes as the version has them, in the order of the buffers.
template <class Size>
struct Arrays {
  explicit Arrays(const std::vector<Buffer>& buffers) {
    for (const Buffer& b : buffers) {
      data.push_back(b.data);
      sizes.push_back(static_cast<Size>(b.size));
      tags.push_back(b.tag);
      memories.push_back(b.memory);
    }
  }
  std::vector<void*> data;
  std::vector<Size> sizes;
  std::vector<int> tags;
  std::vector<void*> memories;
};

template <class Plugin, class Props, int kVersion>
class TableOf final : public Table {
  using Size = std::conditional_t<(kVersion >= 9), std::size_t, int>;
  using RegisterSize = std::conditional_t<(kVersion >= 8), std::size_t, int>;

 public:
  explicit TableOf(Plugin* plugin) : p_(*plugin) {}
  ~TableOf() override {
    if constexpr (kVersion >= 11) p_.finalize(context_);
  }

  const char* name() const override { return p_.name; }
  Code init(Logger logger) override {
    logger_ = logger;
    if constexpr (kVersion >= 11)
      return p_.init(&context_, 42, &config_, logger, nullptr);
    else if constexpr (kVersion == 10)
      return p_.init(logger, nullptr);
    else
      return p_.init(logger);
  }
  bool set_traffic_class(int traffic_class) override {
    config_.traffic_class = traffic_class;
    if constexpr (kVersion >= 11) {
      p_.finalize(context_);
      p_.init(&context_, 42, &config_, logger_, nullptr);
    }
    return kVersion >= 10;
  }
  void choose_device(int device) override { device_ = device; }
  Code devices(int* count) override { return p_.devices(count); }
  Code facts(int device, Facts* out) override {
    Props props;
    std::memset(static_cast<void*>(&props), 0x77, sizeof props);  // what NCCL had there
    const Code code = p_.properties(device, &props);
    if (code == kSuccess) *out = facts_of(props);
    return code;
  }
  Code listen(void* handle, void** listener) override {
    if constexpr (kVersion >= 11)
      return p_.listen(context_, device_, handle, listener);
    else
      return p_.listen(device_, handle, listener);
  }
  Code connect(void* handle, void** sender) override {
    if constexpr (kVersion >= 11)
      return p_.connect(context_, device_, handle, sender, &on_gpu_);
    else if constexpr (kVersion == 10)
      return p_.connect(device_, &config_, handle, sender, &on_gpu_);
    else if constexpr (kVersion >= 7)
      return p_.connect(device_, handle, sender, &on_gpu_);
    else
      return p_.connect(device_, handle, sender);
  }
  Code accept(void* listener, void** receiver) override {
    if constexpr (kVersion >= 7)
      return p_.accept(listener, receiver, &on_gpu_);
    else
      return p_.accept(listener, receiver);
  }
  Code register_memory(void* comm, void* data, std::size_t size, int type, void** memory) override {
    return p_.register_memory(comm, data, static_cast<RegisterSize>(size), type, memory);
  }
  Code deregister(void* comm, void* memory) override { return p_.deregister(comm, memory); }
  Code send(void* comm, const Buffer& b, void** request) override {
    if constexpr (kVersion >= 10)
      return p_.send(comm, b.data, b.size, b.tag, b.memory, nullptr, request);
    else
      return p_.send(comm, b.data, static_cast<Size>(b.size), b.tag, b.memory, request);
  }
  Code receive(void* comm, const std::vector<Buffer>& buffers, void** request) override {
    Arrays<Size> a(buffers);
    const int n = static_cast<int>(buffers.size());
    if constexpr (kVersion >= 10) {
      return p_.receive(comm, n, a.data.data(), a.sizes.data(), a.tags.data(), a.memories.data(), nullptr,
                        request);
    } else {
      return p_.receive(comm, n, a.data.data(), a.sizes.data(), a.tags.data(), a.memories.data(), request);
    }
  }
  Code flush(void* comm, const std::vector<Buffer>& buffers, void** request) override {
    Arrays<int> a(buffers);
    return p_.flush(comm, static_cast<int>(buffers.size()), a.data.data(), a.sizes.data(), a.memories.data(),
                    request);
  }
  Code test(void* request, int* done, int* sizes) override { return p_.test(request, done, sizes); }
  Code close_send(void* comm) override { return p_.close_send(comm); }
  Code close_receive(void* comm) override { return p_.close_receive(comm); }
  Code close_listen(void* listener) override { return p_.close_listen(listener); }

 private:
  Plugin& p_;
  Logger logger_ = nullptr;
  int device_ = 0;
  void* context_ = nullptr;
  abi::CommConfig config_{kTrafficClassUndefined};
  abi::DeviceHandle* on_gpu_ = nullptr;
};

template <class Plugin, class Props, int kVersion>
std::unique_ptr<Table> make(void* symbol) {
  return std::make_unique<TableOf<Plugin, Props, kVersion>>(static_cast<Plugin*>(symbol));
}

}  // namespace

std::unique_ptr<Table> load_table(const char* path, int version) {
  void* library =
      ::dlopen(path, RTLD_NOW | RTLD_LOCAL);  // as NCCL does; never closed, as with NCCL_NET_PLUGIN_REF_COUNT
  const std::string symbol = "ncclNetPlugin_v" + std::to_string(version);
  void* table = library != nullptr ? ::dlsym(library, symbol.c_str()) : nullptr;
  if (table == nullptr) return std::fprintf(stderr, "%s\n", ::dlerror()), nullptr;
  switch (version) {
    case 6: return make<abi::PluginV6, abi::PropertiesV6, 6>(table);
    case 7: return make<abi::PluginV7, abi::PropertiesV7, 7>(table);
    case 8: return make<abi::PluginV8, abi::PropertiesV8, 8>(table);
    case 9: return make<abi::PluginV9, abi::PropertiesV9, 9>(table);
    case 10: return make<abi::PluginV10, abi::PropertiesV9, 10>(table);
    case 11: return make<abi::PluginV11, abi::PropertiesV11, 11>(table);
    case 12: return make<abi::PluginV12, abi::PropertiesV12, 12>(table);
    default: return nullptr;
  }
}

}  // namespace mrc::nccl::testing
