// Devices under test that are elsewhere: one with `mrc conform device` (or a vendor's own such program)
// beside it, and one of which only the QPs are known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conform/device.h"
#include "tools/line_socket.h"

namespace mrc::tools {

inline constexpr const char* kAgentPort = "18519";

/// Speaks the lines of conform/agent_text.h.
class AgentDevice final : public conform::Device {
 public:
  /// `tester` is our address as the device is told it.
  static Result<std::unique_ptr<AgentDevice>> open(const std::string& host, const std::string& service,
                                                   const std::string& tester);
  conform::Abilities abilities() const override { return abilities_; }
  Result<conform::Target> connect(const conform::Terms& terms) override;
  Status post(const std::vector<conform::PostedWrite>& writes) override;
  Result<std::vector<conform::Completed>> completions() override;
  Result<std::vector<std::uint8_t>> memory(std::uint32_t offset, std::uint32_t length) override;
  Status deny(Ev ev) override;

 private:
  AgentDevice(LineSocket socket, std::string tester)
      : socket_(std::move(socket)), tester_(std::move(tester)) {}
  /// What follows "ok"; what follows "error" becomes one.
  Result<std::string> ask(const std::string& line);

  LineSocket socket_;
  std::string tester_;
  conform::Abilities abilities_;
};

/// Known by its numbers alone: each QP serves one check, as responder.
class NumberedDevice final : public conform::Device {
 public:
  NumberedDevice(const conform::Target& like, std::vector<std::uint32_t> qpns)
      : like_(like), qpns_(std::move(qpns)) {}
  conform::Abilities abilities() const override { return {}; }
  Result<conform::Target> connect(const conform::Terms& terms) override;

 private:
  conform::Target like_;
  std::vector<std::uint32_t> qpns_;
  std::size_t next_ = 0;
};

}  // namespace mrc::tools
