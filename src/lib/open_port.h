// A port of the device, of the kind that the settings ask for.
#pragma once

#include <memory>

#include "lib/device_settings.h"
#include "lib/discovery.h"
#include "port/port.h"
#include "port/seat.h"

namespace mrc::lib {

/// One of `ports` of the device. `seat` for sockets only: frames have no way to other processes. Errors say
/// what is missing.
Result<std::unique_ptr<port::Port>> open_port(const PortConfig& config, const DeviceSettings& settings,
                                              std::uint32_t ports, const std::shared_ptr<port::Seat>& seat);

}  // namespace mrc::lib
