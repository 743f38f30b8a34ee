// Devices: the soft ones first, then those of the machine, where rdma-core finds any.
#include <arpa/inet.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "lib/failure.h"
#include "verbs/objects.h"
#include "verbs/real_library.h"

using namespace mrc;
using namespace mrc::verbs;

namespace {

/// Which list of the real library is inside a list of ours: it has to be freed with it.
std::mutex lists_mutex;
std::unordered_map<ibv_device**, ibv_device**> real_lists;

void complain_once(const std::string& error) {
  static std::once_flag said;
  std::call_once(said, [&] { std::fprintf(stderr, "OpenMRC: no soft device: %s\n", error.c_str()); });
}

}  // namespace

extern "C" {

ibv_device** ibv_get_device_list(int* num_devices) {
  const auto& soft_ones = lib::soft_devices();
  if (!soft_ones.error.empty()) {
    lib::note_failure(soft_ones.error);
    complain_once(soft_ones.error);
  }
  int real_count = 0;
  ibv_device** real = load_real_library() ? MRC_PASS_ON(nullptr, ibv_get_device_list, &real_count) : nullptr;
  if (real == nullptr) real_count = 0;

  const std::size_t total = soft_ones.all.size() + static_cast<std::size_t>(real_count);
  auto** list = static_cast<ibv_device**>(std::calloc(total + 1, sizeof(ibv_device*)));
  if (list == nullptr) return fail<ibv_device*>(ENOMEM);
  std::size_t n = 0;
  for (const auto& device : soft_ones.all) list[n++] = device.get();
  for (int i = 0; i < real_count; ++i) list[n++] = real[i];
  if (num_devices != nullptr) *num_devices = static_cast<int>(total);
  if (real != nullptr) {
    const std::lock_guard lock(lists_mutex);
    real_lists[list] = real;
  }
  return list;
}

void ibv_free_device_list(ibv_device** list) {
  ibv_device** real = nullptr;
  {
    const std::lock_guard lock(lists_mutex);
    if (const auto found = real_lists.find(list); found != real_lists.end()) {
      real = found->second;
      real_lists.erase(found);
    }
  }
  if (real != nullptr) MRC_PASS_ON(void(), ibv_free_device_list, real);
  std::free(list);
}

const char* ibv_get_device_name(ibv_device* device) { return device->name; }

__be64 ibv_get_device_guid(ibv_device* device) {
  if (!lib::is_soft(device)) return MRC_PASS_ON(__be64{0}, ibv_get_device_guid, device);
  return htobe64(static_cast<lib::SoftDevice*>(device)->config.guid);
}

int ibv_get_device_index(ibv_device* device) {
  if (!lib::is_soft(device)) return MRC_PASS_ON(-1, ibv_get_device_index, device);
  errno = EOPNOTSUPP;  // the kernel numbers devices, and does not know this one
  return -1;
}

}  // extern "C"
