// The devices of this process: one object for each name, shared by whoever opens it, and what fork does to
// them.
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <mutex>

#include "lib/nic_device.h"
#include "lib/no_memory.h"
#include "node/process_metrics.h"

namespace mrc::lib {
namespace {

/// Never destroyed: threads of the application may outlive static objects at exit.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<NicDevice>> open;
  std::vector<std::shared_ptr<NicDevice>> held;  // across a fork
  std::vector<std::shared_ptr<NicDevice>>
      inherited;  // of a parent process: of no use here, and never taken apart
  std::weak_ptr<node::ProcessMetrics> metrics;
  std::shared_ptr<node::ProcessMetrics> held_metrics;
};

Registry& registry() {
  static auto* const it = new Registry;
  return *it;
}

void before_fork() {
  Registry& r = registry();
  r.mutex.lock();
  r.held_metrics = r.metrics.lock();
  if (r.held_metrics != nullptr) r.held_metrics->before_fork();
  for (auto& [name, weak] : r.open) {
    if (auto device = weak.lock()) r.held.push_back(std::move(device));
  }
  for (const auto& device : r.held) device->before_fork();
}

void after_fork_in_parent() {
  Registry& r = registry();
  for (const auto& device : r.held) device->after_fork_in_parent();
  if (r.held_metrics != nullptr) r.held_metrics->after_fork_in_parent();
  auto held = std::move(r.held);
  const auto metrics = std::move(r.held_metrics);
  r.held.clear();
  r.mutex.unlock();  // before `held` goes: the last holder may just have let go
}

void after_fork_in_child() {
  Registry& r = registry();
  for (const auto& device : r.held) {
    device->after_fork_in_child();
    r.inherited.push_back(device);
  }
  r.held.clear();
  r.open.clear();
  if (r.held_metrics != nullptr) r.held_metrics->after_fork_in_child();
  r.held_metrics.reset();  // the inherited devices keep it
  r.metrics.reset();
  r.mutex.unlock();
}

/// A port that is taken costs the metrics, not the device. REQUIRES: the registry's mutex held.
void tell_metrics(Registry& r, NicDevice& device) {
  if (device.settings().metrics.empty()) return;
  auto metrics = r.metrics.lock();
  if (metrics == nullptr) {
    auto started = node::ProcessMetrics::start(device.settings().metrics);
    if (!started) {
      std::fprintf(stderr, "libmrc: no metrics of process %d: %s\n", static_cast<int>(::getpid()),
                   started.error().what.c_str());
      return;
    }
    r.metrics = metrics = std::move(*started);
  }
  device.tell_metrics(std::move(metrics));
}

}  // namespace

Result<std::shared_ptr<Device>> open_device(const DeviceConfig& config) {
  static std::once_flag once;
  std::call_once(once, [] { ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); });
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  if (auto open = r.open[config.name].lock()) return std::shared_ptr<Device>(std::move(open));
  const auto settings = read_device_settings();
  if (!settings) return settings.error();
  auto opened = or_no_memory([&] { return NicDevice::open(config, *settings); });
  if (!opened) return opened.error();
  r.open[config.name] = *opened;
  tell_metrics(r, **opened);
  return std::shared_ptr<Device>(std::move(*opened));
}

}  // namespace mrc::lib
