#include "lib/open_port.h"

#include <algorithm>
#include <bit>

#include "port/framed_port.h"
#include "port/packet_port.h"
#include "port/udp_port.h"
#include "port/xdp_port.h"

namespace mrc::lib {
namespace {

using PortResult = Result<std::unique_ptr<port::Port>>;

port::Address local_address(const PortConfig& config) {
  port::Address out;
  out.ip = config.address;
  if (is_link_local(config.address)) out.scope = config.interface.index;
  return out;
}

PortResult open_udp(const PortConfig& config, const DeviceSettings& settings, std::uint32_t ports,
                    const std::shared_ptr<port::Seat>& seat) {
  port::UdpPortOptions options;
  options.local = local_address(config);
  options.udp_port = settings.udp_port;
  options.mailbox = settings.mailbox;
  // EVs are dealt out over the ports, and descriptors are scarce.
  options.connected_limit = std::max(32u, std::bit_floor(options.connected_limit / ports));
  auto opened = port::UdpPort::open(options, seat);
  if (!opened) return opened.error();
  return std::unique_ptr<port::Port>(std::move(*opened));
}

PortResult open_frames(const PortConfig& config, const DeviceSettings& settings) {
  if (settings.port == PortKind::xdp) {
    auto opened = port::XdpPort::open({.interface = config.interface.name, .udp_port = settings.udp_port});
    if (!opened) return opened.error();
    return std::unique_ptr<port::Port>(std::move(*opened));
  }
  port::PacketPortOptions options;
  options.interface = config.interface.name;
  options.udp_port = settings.udp_port;
  auto opened = port::PacketPort::open(options);
  if (!opened) return opened.error();
  return std::unique_ptr<port::Port>(std::move(*opened));
}

}  // namespace

PortResult open_port(const PortConfig& config, const DeviceSettings& settings, std::uint32_t ports,
                     const std::shared_ptr<port::Seat>& seat) {
  if (settings.port == PortKind::udp) return open_udp(config, settings, ports, seat);
  if (config.interface.loopback)
    return Error{EINVAL, "MRC_PORT=packet and xdp need an Ethernet interface: " + config.interface.name +
                             " is loopback"};
  auto frames = open_frames(config, settings);
  if (!frames) return frames.error();
  auto framed = port::FramedPort::open(std::move(*frames),
                                       {.local = local_address(config), .udp_port = settings.udp_port});
  if (!framed) {
    Error error = framed.error();
    if (error.code == EADDRINUSE)
      error.what +=
          "; MRC_PORT=packet and xdp have their address alone: if it is mrcd's, start that with "
          "--no-endpoint";
    return error;
  }
  return std::unique_ptr<port::Port>(std::move(*framed));
}

}  // namespace mrc::lib
