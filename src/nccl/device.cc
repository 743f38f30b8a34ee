#include "nccl/device.h"

#include <endian.h>
#include <openmrc/connect.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "nccl/exit.h"
#include "nccl/lanes.h"
#include "nccl/log.h"

namespace mrc::nccl {
namespace {

Error failed(const std::string& what) { return {errno, what + ": " + std::strerror(errno)}; }

/// Encodings of the InfiniBand specification.
int mbps_of(const ibv_port_attr& port) {
  struct Pair {
    int code, value;
  };
  constexpr Pair kWidths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
  constexpr Pair kMbps[] = {{1, 2500},   {2, 5000},   {4, 10000},  {8, 10000},
                            {16, 14000}, {32, 25000}, {64, 50000}, {128, 100000}};
  int lanes = 1, mbps = 2500;
  for (const Pair& p : kWidths) lanes = p.code == port.active_width ? p.value : lanes;
  for (const Pair& p : kMbps) mbps = p.code == port.active_speed ? p.value : mbps;
  return lanes * mbps;
}

// NCCL's search for rings and trees ends at 0.12 GB/s: of a device that is slower it finds no use at all.
constexpr int kLeastMbps = 1000;

struct Found {
  std::vector<std::unique_ptr<Adapter>> adapters;
  Error error;
};

std::vector<std::unique_ptr<Device>> find_devices(const Settings& settings, Error& error) {
  std::vector<std::unique_ptr<Device>> devices;
  int count = 0;
  ibv_device** list = ::ibv_get_device_list(&count);
  for (int i = 0; list != nullptr && i < count; ++i) {
    auto device = Device::open(list[i], settings);
    if (!device) {
      error = device.error();
      warn(error.what);
    } else if (*device != nullptr) {
      devices.push_back(*std::move(device));
    }
  }
  if (list != nullptr) ::ibv_free_device_list(list);
  return devices;
}

/// In the words of whoever set it; libmrc knows its own variable only.
Error no_device() {
  const char* named = std::getenv("NCCL_OPENMRC_DEVICES");
  const std::string setting = named != nullptr && *named != '\0'
                                  ? std::string("NCCL_OPENMRC_DEVICES is '") + named + "'"
                                  : "NCCL_OPENMRC_DEVICES must name the interfaces to use, such as eth0,eth1";
  const std::string why = ::openmrc_error();
  return {ENODEV, "no MRC device: " + setting + (why.empty() ? "" : ": " + why)};
}

/// A device has a socket for each path, and many systems allow a process no more than 1024 until it asks.
/// NCCL does as much for its own sockets.
void allow_descriptors() {
  constexpr rlim_t kEnough = 65'536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= std::min(kEnough, limit.rlim_max)) return;
  limit.rlim_cur = std::min(kEnough, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Found find_adapters() {
  Found found;
  for (const std::string& name : unknown_settings()) warn(name + " is no setting: docs/nccl.md lists them");
  const auto settings = read_settings();
  if (!settings) return {{}, settings.error()};
  allow_descriptors();
  auto devices = find_devices(*settings, found.error);
  if (devices.empty() && found.error.code == 0) found.error = no_device();
  const bool all = devices.size() % settings->threads == 0;  // else each that opened stands for itself
  for (const auto& lanes :
       lanes_of(devices.size(), all ? devices.size() / settings->threads : devices.size())) {
    std::vector<std::unique_ptr<Device>> of_one;
    for (const std::size_t i : lanes) of_one.push_back(std::move(devices[i]));
    found.adapters.push_back(std::make_unique<Adapter>(std::move(of_one)));
  }
  return found;
}

}  // namespace

Result<std::unique_ptr<Device>> Device::open(ibv_device* from, const Settings& settings) {
  const std::string name = ::ibv_get_device_name(from);
  ibv_context* verbs = ::ibv_open_device(from);
  if (verbs == nullptr) return Error{errno, "can't open " + name + ": " + ::openmrc_error()};
  mrc_device_attr attributes{};
  int supported = 0;
  if (::mrc_query_device(verbs, &attributes, &supported) != 0 || supported == 0) {
    ::ibv_close_device(verbs);
    return std::unique_ptr<Device>();
  }
  std::unique_ptr<Device> device(new Device(verbs, settings));
  device->properties_.name = name;
  device->properties_.guid = be64toh(::ibv_get_device_guid(from));
  if (auto described = device->describe(); !described) return described.error();
  return device;
}

Status Device::describe() {
  mrc_context_attr version{MRC_API_VER_USED, 0};
  context_ = ::mrc_create_context(verbs_, &version);
  pd_ = ::ibv_alloc_pd(verbs_);
  if (context_ == nullptr || pd_ == nullptr) return failed("no context on " + properties_.name);
  driver_ = std::make_unique<Driver>(context_, settings_.long_bytes);
  ibv_device_attr attributes{};
  if (const int error = ::ibv_query_device(verbs_, &attributes); error != 0) {
    return Error{error, "can't query " + properties_.name};
  }
  properties_.ports = attributes.phys_port_cnt;
  properties_.max_comms = attributes.max_qp / static_cast<int>(settings_.qps);
  for (int p = 1; p <= properties_.ports; ++p) {
    ibv_port_attr port{};
    if (::ibv_query_port(verbs_, static_cast<std::uint8_t>(p), &port) == 0) properties_.mbps += mbps_of(port);
  }
  properties_.mbps /= static_cast<int>(settings_.threads);  // the others send through the same ports
  if (settings_.speed_mbps != 0) properties_.mbps = static_cast<int>(settings_.speed_mbps);
  properties_.latency_us = static_cast<float>(settings_.latency_us);
  return addresses().empty()
             ? Status(Error{EADDRNOTAVAIL, properties_.name + " has no address at GID index " +
                                               std::to_string(settings_.gid_index) +
                                               ": NCCL_OPENMRC_GID_INDEX names another"})
             : Status(Done{});
}

std::vector<IpAddress> Device::addresses() const {
  std::vector<IpAddress> found;
  for (int p = 1; p <= properties_.ports; ++p) {
    ::ibv_gid gid{};
    IpAddress address;
    if (::ibv_query_gid(verbs_, static_cast<std::uint8_t>(p), static_cast<int>(settings_.gid_index), &gid) !=
        0)
      continue;
    std::memcpy(address.data(), gid.raw, address.size());
    if (address != IpAddress{}) found.push_back(address);
  }
  return found;
}

Result<ibv_mr*> Device::register_memory(void* data, std::size_t size) const {
  // Fewer rights suffice for memory that is only sent from, and may not be written.
  ibv_mr* mr = ::ibv_reg_mr(pd_, data, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (mr == nullptr && errno == EFAULT) mr = ::ibv_reg_mr(pd_, data, size, 0);
  if (mr == nullptr) return failed("can't register " + std::to_string(size) + " bytes of memory");
  return mr;
}

Result<ibv_mr*> Device::register_on_demand(void* data, std::size_t size) const {
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND;
  ibv_mr* mr = ::ibv_reg_mr(pd_, data, size, access);
  return mr != nullptr ? Result<ibv_mr*>(mr) : register_memory(data, size);
}

Adapter::Adapter(std::vector<std::unique_ptr<Device>> lanes)
    : lanes_(std::move(lanes)), properties_(lanes_.front()->properties()) {
  const Settings& settings = lanes_.front()->settings();
  if (settings.speed_mbps != 0) return;  // said of each that NCCL sees
  properties_.mbps = std::max(properties_.mbps * static_cast<int>(lanes_.size()), kLeastMbps);
}

Result<const std::vector<std::unique_ptr<Adapter>>*> open_adapters() {
  static const Found* found = nullptr;
  static pid_t owner = 0;
  static std::once_flag once;
  std::call_once(once, [] {
    owner = ::getpid();
    found = new Found(find_adapters());  // never closed: NCCL's threads may outlive main()
    at_exit([] {
      for (const auto& adapter : found->adapters) {
        for (const auto& lane : adapter->lanes()) lane->driver().stop();
      }
    });
  });
  if (::getpid() != owner) {
    return Error{ENODEV,
                 "this process was forked from one that uses NCCL, and has no part in its devices: fork "
                 "before that, or start a program of its own"};
  }
  if (found->adapters.empty()) return found->error;
  return &found->adapters;
}

}  // namespace mrc::nccl
