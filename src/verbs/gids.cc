// The GID table, by each of the ways in which programs ask for it.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "verbs/objects.h"
#include "verbs/real_library.h"

using namespace mrc;
using namespace mrc::verbs;

namespace {

/// The table of a port, or empty where there is no such port.
std::vector<lib::GidEntry> table_of(ibv_context* context, std::uint32_t port) {
  const auto& device = *soft_context(context)->device();
  if (port < 1 || port > device.config().ports.size()) return {};
  return device.gids(PortId(static_cast<std::uint8_t>(port)));
}

std::uint32_t type_of(const lib::GidEntry& entry) {
  return entry.type == lib::GidType::roce_v1 ? IBV_GID_TYPE_ROCE_V1 : IBV_GID_TYPE_ROCE_V2;
}

ibv_gid_entry to_entry(const lib::GidEntry& from, std::uint32_t port, std::size_t index) {
  ibv_gid_entry to{};
  std::memcpy(to.gid.raw, from.gid.data(), from.gid.size());
  to.gid_index = static_cast<std::uint32_t>(index);
  to.port_num = port;
  to.gid_type = type_of(from);
  to.ndev_ifindex = from.interface;
  return to;
}

}  // namespace

extern "C" {

int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  if (soft_context(context) == nullptr) return MRC_PASS_ON(-1, ibv_query_gid, context, port, index, gid);
  const auto table = table_of(context, port);
  if (index < 0 || static_cast<std::size_t>(index) >= table.size()) {
    errno = EINVAL;
    return -1;
  }
  std::memcpy(gid->raw, table[static_cast<std::size_t>(index)].gid.data(), sizeof gid->raw);
  return 0;
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index, ibv_gid_entry* entry,
                      std::uint32_t flags, std::size_t size) {
  if (soft_context(context) == nullptr) {
    return MRC_PASS_ON(ENODEV, _ibv_query_gid_ex, context, port, index, entry, flags, size);
  }
  const auto table = table_of(context, port);
  if (flags != 0 || index >= table.size()) return EINVAL;
  const auto filled = to_entry(table[index], port, index);
  std::memset(entry, 0, size);
  std::memcpy(entry, &filled, std::min(size, sizeof filled));
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t room,
                             std::uint32_t flags, std::size_t size) {
  SoftContext* ours = soft_context(context);
  if (ours == nullptr) {
    return MRC_PASS_ON(ssize_t{-ENODEV}, _ibv_query_gid_table, context, entries, room, flags, size);
  }
  if (flags != 0 || size == 0) return -EINVAL;
  std::size_t n = 0;
  for (std::uint32_t port = 1; port <= ours->device()->config().ports.size(); ++port) {
    const auto table = table_of(context, port);
    for (std::size_t i = 0; i < table.size() && n < room; ++i, ++n) {
      const auto filled = to_entry(table[i], port, i);
      std::memcpy(reinterpret_cast<char*>(entries) + n * size, &filled, std::min(size, sizeof filled));
    }
  }
  return static_cast<ssize_t>(n);
}

int ibv_query_gid_type(ibv_context* context, std::uint8_t port, unsigned int index, int* type);

/// rdma-core's private call (perftest uses it): the numbers are those of sysfs, IB and RoCE v1 0, RoCE v2 1.
int ibv_query_gid_type(ibv_context* context, std::uint8_t port, unsigned int index, int* type) {
  if (soft_context(context) == nullptr)
    return MRC_PASS_ON(-1, ibv_query_gid_type, context, port, index, type);
  const auto table = table_of(context, port);
  if (index >= table.size()) {
    errno = EINVAL;
    return -1;
  }
  *type = table[index].type == lib::GidType::roce_v1 ? 0 : 1;
  return 0;
}

}  // extern "C"
