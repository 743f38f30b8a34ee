// The GID table of a port: the layout that RoCE programs expect, as arithmetic on addresses.
#include <algorithm>

#include "lib/discovery.h"

namespace mrc::lib {
namespace {

/// fe80:: and the modified EUI-64 of the MAC: the GID that every RoCE port has first.
Gid default_gid(const std::array<std::uint8_t, 6>& mac) {
  Gid gid{0xfe, 0x80};
  std::copy_n(mac.begin(), 3, gid.begin() + 8);
  gid[11] = 0xff;
  gid[12] = 0xfe;
  std::copy_n(mac.begin() + 3, 3, gid.begin() + 13);
  gid[8] ^= 0x02;
  return gid;
}

void add_pair(std::vector<GidEntry>& table, const Gid& gid, std::uint32_t interface) {
  for (const auto& entry : table) {
    if (entry.gid == gid) return;
  }
  table.push_back({gid, GidType::roce_v1, interface});
  table.push_back({gid, GidType::roce_v2, interface});
}

}  // namespace

// MRC-API-010: v1 and v2 in pairs, link-local first, index 3 a routable RoCE v2 GID.
std::vector<GidEntry> make_gid_table(const Interface& interface, const Gid& preferred) {
  std::vector<GidEntry> table;
  add_pair(table, default_gid(interface.mac), interface.index);
  add_pair(table, preferred, interface.index);
  for (const auto& address : interface.addresses) add_pair(table, address, interface.index);
  return table;
}

}  // namespace mrc::lib
