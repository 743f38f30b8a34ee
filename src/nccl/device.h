// The MRC devices of this process, and how NCCL sees them: opened once, never closed.
#pragma once

#include <mrc.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "nccl/driver.h"
#include "nccl/handle.h"
#include "nccl/settings.h"

namespace mrc::nccl {

struct Properties {
  std::string name;
  std::uint64_t guid = 0;
  int mbps = 0;  // of all ports together
  int ports = 0;
  int max_comms = 0;
  float latency_us = 0;
};

class Device {
 public:
  /// Null when the device is no MRC device.
  static Result<std::unique_ptr<Device>> open(ibv_device* from, const Settings& settings);

  const Settings& settings() const { return settings_; }
  ibv_context* verbs() const { return verbs_; }
  mrc_context* context() const { return context_; }
  ibv_pd* pd() const { return pd_; }
  Driver& driver() const { return *driver_; }
  const Properties& properties() const { return properties_; }
  /// Of the ports, in their order, as they are now.
  std::vector<IpAddress> addresses() const;

  Result<ibv_mr*> register_memory(void* data, std::size_t size) const;
  /// The same for memory of which little may ever be used: where the device can, it brings no page in.
  Result<ibv_mr*> register_on_demand(void* data, std::size_t size) const;

 private:
  Device(ibv_context* verbs, const Settings& settings) : settings_(settings), verbs_(verbs) {}
  Status describe();

  Settings settings_;
  ibv_context* verbs_;
  mrc_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  Properties properties_;
  std::unique_ptr<Driver> driver_;
};

/// What NCCL takes for one network device: lanes over the same ports, each with a thread of its own. NCCL
/// puts two channels on a device, and two channels that share a thread move less than one alone.
class Adapter {
 public:
  explicit Adapter(std::vector<std::unique_ptr<Device>> lanes);

  const std::vector<std::unique_ptr<Device>>& lanes() const { return lanes_; }
  const Properties& properties() const { return properties_; }
  /// Lanes take turns, in each direction for itself: a ring's channel sends once and receives once.
  const Device& to_listen() const { return *lanes_[listens_++ % lanes_.size()]; }
  const Device& to_connect() const { return *lanes_[connects_++ % lanes_.size()]; }

 private:
  std::vector<std::unique_ptr<Device>> lanes_;
  Properties properties_;
  mutable std::atomic<std::size_t> listens_{0}, connects_{0};
};

/// Opens all MRC devices at the first call. An error when there is none.
Result<const std::vector<std::unique_ptr<Adapter>>*> open_adapters();

}  // namespace mrc::nccl
