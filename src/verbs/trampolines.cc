#include "verbs/trampolines.h"

#include <dlfcn.h>

#include <mutex>
#include <vector>

namespace {

struct Trampoline {
  const char* name;
  const char* version;
};
const Trampoline kTrampolines[] = {
#define MRC_TRAMPOLINE(name, version) {#name, version},
#include <verbs_trampolines.inc>  // made by make_trampolines.py
#undef MRC_TRAMPOLINE
};
constexpr int kCount = sizeof kTrampolines / sizeof kTrampolines[0];

// Providers register when they are loaded, which is before anyone asks for devices, and with it for the real
// library.
std::mutex mutex;
std::vector<const void*> registered;
void (*pass_on_provider)(const void*) = nullptr;

}  // namespace

extern "C" {

void* mrc_trampoline_targets[kCount];

/// A provider's table of functions, in rdma-core's private format: kept for the real library.
__attribute__((visibility("default"))) void verbs_register_driver_34(const void* operations) {
  const std::lock_guard lock(mutex);
  if (pass_on_provider != nullptr) {
    pass_on_provider(operations);
  } else {
    registered.push_back(operations);
  }
}
}

namespace mrc::verbs {

void connect_trampolines(void* handle) {
  for (int i = 0; i < kCount; ++i) {
    mrc_trampoline_targets[i] = dlvsym(handle, kTrampolines[i].name, kTrampolines[i].version);
  }
  const std::lock_guard lock(mutex);
  pass_on_provider = reinterpret_cast<void (*)(const void*)>(
      dlvsym(handle, "verbs_register_driver_34", "IBVERBS_PRIVATE_34"));
  if (pass_on_provider == nullptr) return;
  for (const void* operations : registered) pass_on_provider(operations);
  registered.clear();
}

}  // namespace mrc::verbs
