#include "verbs/port_attributes.h"

#include <array>
#include <limits>

#include "lib/qp_shell.h"

namespace mrc::verbs {
namespace {

struct Speed {
  std::uint64_t gigabits;
  std::uint8_t width;  // 1: one lane, 2: four, 4: eight
  std::uint8_t speed;  // 1: 2.5, 4: 10, 32: 25, 64: 50, 128: 100 Gb/s per lane
};
// The largest that does not promise more than the link has.
constexpr std::array kSpeeds{Speed{800, 4, 128}, Speed{400, 2, 128}, Speed{200, 2, 64},
                             Speed{100, 2, 32},  Speed{50, 1, 64},   Speed{40, 2, 4},
                             Speed{25, 1, 32},   Speed{10, 1, 4},    Speed{0, 1, 1}};

constexpr std::uint8_t kLinkUp = 5;
constexpr std::uint8_t kDisabled = 3;
constexpr std::uint8_t kPolling = 2;

Speed speed_of(std::uint64_t bits_per_second) {
  for (const auto& speed : kSpeeds) {
    if (bits_per_second / 1'000'000'000 >= speed.gigabits) return speed;
  }
  return kSpeeds.back();
}

}  // namespace

ibv_port_attr port_attributes(const lib::PortStatus& status, std::size_t gid_count) {
  ibv_port_attr attr{};
  // MRC-CTL-001: a port that the controller disabled is down, whatever its link says.
  attr.state = status.active() ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attr.phys_state = status.active() ? kLinkUp : status.admin_enabled ? kPolling : kDisabled;
  attr.max_mtu = IBV_MTU_4096;
  attr.active_mtu = lib::active_mtu(status);
  attr.gid_tbl_len = static_cast<int>(gid_count);
  attr.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  attr.max_msg_sz = std::numeric_limits<std::uint32_t>::max();
  attr.pkey_tbl_len = 1;
  attr.max_vl_num = 1;
  const Speed speed = speed_of(status.bits_per_second);
  attr.active_width = speed.width;
  attr.active_speed = speed.speed;
  attr.link_layer = IBV_LINK_LAYER_ETHERNET;
  return attr;
}

}  // namespace mrc::verbs
