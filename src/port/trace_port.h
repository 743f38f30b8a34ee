// A port that writes a line for every packet that passes: direction, path, class, and what the transport
// says.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "port/tap_port.h"
#include "wire/settings.h"

namespace mrc::port {

/// Takes one line, without a newline.
using TraceSink = std::function<void(const std::string& line)>;

class TracePort final : public TapPort {
 public:
  TracePort(std::unique_ptr<Port> inner, const wire::Settings& settings, TraceSink sink);

 protected:
  void see(const Sighting& packet) override;

 private:
  wire::Settings settings_;
  TraceSink sink_;
  bool frames_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace mrc::port
