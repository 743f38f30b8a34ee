// Our own NIC as the device under test, in virtual time: the checks' proof that they can be passed, and with
// a wrapped port (tests/conform) that they can be failed.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "conform/device.h"
#include "conform/edge.h"
#include "datapath/testing.h"

namespace mrc::conform {

struct SelfOptions {
  int evs = 16;  // on each plane
  int planes = 1;
  /// Last word on how the QP is made.
  std::function<void(nic::QpConnect&, nic::QpSend&, Terms&)> adjust;
  /// Around the congestion control of a QP that has one.
  std::function<std::unique_ptr<engine::Congestion>(std::unique_ptr<engine::Congestion>)> congestion;
  /// Between the NIC and the wire.
  std::function<std::unique_ptr<port::Port>(std::unique_ptr<port::Port>)> wrap;
};

class SelfDevice : public Device, public Edge {
 public:
  explicit SelfDevice(const SelfOptions& options = {});

  // Device
  Abilities abilities() const override { return {true, true, true, true, true, true}; }
  Result<Target> connect(const Terms& terms) override;
  Status post(const std::vector<PostedWrite>& writes) override;
  Result<std::vector<Completed>> completions() override;
  Result<std::vector<std::uint8_t>> memory(std::uint32_t offset, std::uint32_t length) override;
  Status deny(Ev ev) override;

  // Edge
  Time now() override { return now_; }
  int planes() const override { return options_.planes; }
  port::Port& port(int plane) override { return *tester_[static_cast<std::size_t>(plane)]; }
  port::Address device(int plane) const override;
  void wait(Time until) override;

  std::byte* bytes() { return station_->host.memory.data(); }
  std::uint64_t va() const { return station_->host.va(0); }
  RKey rkey() const { return station_->host.key; }

 private:
  void use_congestion(const Terms& terms, nic::QpConnect& c);
  std::uint64_t sent() const;
  void turn();

  SelfOptions options_;
  Time now_{};
  // By plane.
  std::vector<std::unique_ptr<datapath::testing::MemoryPort>> tester_;
  std::vector<datapath::testing::MemoryPort*> wire_;  // the NIC's ends, inside ports_
  std::vector<std::unique_ptr<port::Port>> ports_;
  std::unique_ptr<datapath::testing::Station> station_;
  nic::Qp* qp_ = nullptr;
};

}  // namespace mrc::conform
