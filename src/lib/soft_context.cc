#include "lib/soft_context.h"

#include <cstdio>
#include <cstring>

namespace mrc::lib {
namespace {

std::unique_ptr<SoftDevice> make_soft_device(const DeviceConfig& config) {
  auto device = std::make_unique<SoftDevice>();
  device->node_type = IBV_NODE_CA;
  device->transport_type = IBV_TRANSPORT_IB;
  device->config = config;
  std::snprintf(device->name, sizeof device->name, "%s", config.name.c_str());
  std::snprintf(device->dev_name, sizeof device->dev_name, "%s", config.name.c_str());
  // No such directory exists, so a program that looks there for PCI or NUMA facts finds that there are none.
  std::snprintf(device->dev_path, sizeof device->dev_path, "/sys/class/infiniband_verbs/%s",
                config.name.c_str());
  std::snprintf(device->ibdev_path, sizeof device->ibdev_path, "/sys/class/infiniband/%s",
                config.name.c_str());
  return device;
}

SoftDevices find_devices() {
  SoftDevices found;
  const auto configs = discover();
  if (!configs) {
    found.error = configs.error().what;
    return found;
  }
  for (const auto& config : *configs) found.all.push_back(make_soft_device(config));
  return found;
}

}  // namespace

const SoftDevices& soft_devices() {
  // Never freed: programs keep pointers to devices, and may use them while the process exits.
  static const SoftDevices* const found = new SoftDevices(find_devices());
  return *found;
}

bool is_soft(const ibv_device* device) {
  for (const auto& one : soft_devices().all) {
    if (one.get() == device) return true;
  }
  return false;
}

SoftContext::SoftContext(ibv_device* from, std::shared_ptr<Device> to) : device_(std::move(to)) {
  block_.owner = this;
  block_.verbs.sz = sizeof(verbs_context);
  ibv_context& context = block_.verbs.context;
  context.device = from;
  context.cmd_fd = -1;  // there is no kernel device behind it
  context.async_fd = async_.fd();
  context.num_comp_vectors = 1;
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  pthread_mutex_init(&context.mutex, nullptr);
  device_->listen(this);
}

SoftContext::~SoftContext() {
  device_->unlisten(this);
  pthread_mutex_destroy(&block_.verbs.context.mutex);
}

AsyncEvent port_event(PortId port, bool active) {
  return {active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, nullptr, port.value, nullptr};
}

void SoftContext::on_port(PortId port, bool active) { async_.push(port_event(port, active)); }

void SoftContext::on_gid_change(PortId port) {
  async_.push({IBV_EVENT_GID_CHANGE, nullptr, port.value, nullptr});
}

SoftContext* soft_context(ibv_context* context) {
  if (context == nullptr || !is_soft(context->device)) return nullptr;
  return reinterpret_cast<SoftContext::Block*>(verbs_get_ctx(context))->owner;
}

SoftPd* soft_pd(ibv_pd* pd) {
  return pd != nullptr && pd->context != nullptr && is_soft(pd->context->device) ? static_cast<SoftPd*>(pd)
                                                                                 : nullptr;
}

}  // namespace mrc::lib
