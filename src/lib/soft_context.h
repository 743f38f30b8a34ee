// The verbs objects of a soft device that both shells must recognise: device, context, protection domain.
//
// libibverbs (src/verbs) makes them and programs hand them to libmrc; both find the Device behind them here.
// An object of a real RDMA device is never one of these, and is never touched beyond its public fields.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lib/async_event.h"
#include "lib/device.h"

namespace mrc::lib {

/// An ibv_device, followed by room: provider libraries look for their own fields behind it to see whether it
/// is theirs, and must find zeros.
struct SoftDevice : ibv_device {
  std::array<void*, 64> not_a_provider{};
  DeviceConfig config;
};

/// The soft devices of this process, found once. A wrong MRC_DEVICES leaves none, and `error` says why.
struct SoftDevices {
  std::vector<std::unique_ptr<SoftDevice>> all;
  std::string error;
};
const SoftDevices& soft_devices();
bool is_soft(const ibv_device* device);

class SoftContext final : public DeviceListener, public std::enable_shared_from_this<SoftContext> {
 public:
  SoftContext(ibv_device* from, std::shared_ptr<Device> to);
  ~SoftContext();
  SoftContext(const SoftContext&) = delete;
  SoftContext& operator=(const SoftContext&) = delete;

  /// Stays until the program closes it, and then as long as an object of it does: programs close the device
  /// and free its objects in any order. REQUIRES: a shared pointer has it.
  void open() { opened_ = shared_from_this(); }
  void close() { opened_.reset(); }

  /// What programs hold; the verbs shell fills its functions in.
  verbs_context& verbs() { return block_.verbs; }
  ibv_context* handle() { return &block_.verbs.context; }
  const std::shared_ptr<Device>& device() const { return device_; }
  AsyncQueue& async() { return async_; }

  void on_port(PortId port, bool active) override;
  void on_gid_change(PortId port) override;

 private:
  friend SoftContext* soft_context(ibv_context* context);
  struct Block {
    verbs_context verbs{};
    SoftContext* owner = nullptr;  // right behind it, so that the context leads here
  };
  Block block_;
  std::shared_ptr<Device> device_;
  AsyncQueue async_;
  std::shared_ptr<SoftContext> opened_;
};

/// Null for a context of a real device, and for null.
SoftContext* soft_context(ibv_context* context);

struct SoftPd : ibv_pd {
  std::shared_ptr<SoftContext> owner;  // for its regions and queue pairs as well: it goes after them
  std::shared_ptr<Device> device;
  Pd id;
};
/// Null for a PD of a real device, and for null.
SoftPd* soft_pd(ibv_pd* pd);

/// The event of a port's change, for contexts of either kind.
AsyncEvent port_event(PortId port, bool active);

}  // namespace mrc::lib
