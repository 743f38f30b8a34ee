// Our own device with something wrong on purpose: a port that changes, loses or adds packets between it and
// the wire, and a hand that lies about completions. For tests of the conformance kit only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "conform/run.h"
#include "conform/self_device.h"
#include "port/wrapped_port.h"
#include "wire/codec.h"

namespace mrc::conform {

/// A packet on its way between the device and the wire.
struct Passing {
  wire::Packet packet;
  wire::Datagram around;
  std::vector<std::uint8_t> payload;
  bool trimmed = false;
  bool seen = false;  // a write whose PSN passed before in this direction
  template <class Body>
  Body* as() {
    return std::get_if<Body>(&packet.body);
  }
  void set_class(wire::TrafficClass c) {
    around.traffic_class = static_cast<std::uint8_t>(wire::dscp_of(c, {}) << 2 | (around.traffic_class & 3));
  }
};

/// After a change of the bytes.
void mend_icrc(std::vector<std::uint8_t>& bytes, const wire::Datagram& around);

class Twin;

/// What is wrong, and how. Each hook may be empty.
struct Defect {
  std::string name;
  std::string check;  // the one that must catch it
  /// False loses the packet.
  std::function<bool(Twin&, Passing&)> out = {}, in = {};
  /// The bytes on the wire; the datagram around them is for the iCRC.
  std::function<void(std::vector<std::uint8_t>&, const wire::Datagram&)> raw_out = {}, raw_in = {};
  std::function<void(nic::QpConnect&, nic::QpSend&, Terms&)> adjust = {};
  std::function<void(Twin&, std::vector<Completed>&)> completions = {};
  bool deaf_to_controller = false;
  /// What congestion control is told of a SACK, and whether it hears of trims.
  std::function<void(engine::Congestion::Feedback&)> feedback = {};
  bool deaf_to_trims = false;
  int planes = 1;
};
std::vector<Defect> responder_defects();
std::vector<Defect> requestor_defects();
std::vector<Defect> congestion_defects();
std::vector<Defect> plane_defects();

/// Congestion control that is told something else than what happened.
std::unique_ptr<engine::Congestion> misled(std::unique_ptr<engine::Congestion> inner, const Defect& defect);

class Twin final : public SelfDevice {
 public:
  explicit Twin(const Defect& defect);

  Result<Target> connect(const Terms& terms) override;
  Status post(const std::vector<PostedWrite>& writes) override;
  Result<std::vector<Completed>> completions() override;
  Status deny(Ev ev) override;

  /// Puts bytes where only the NIC should.
  void scribble(std::uint64_t va, const std::vector<std::uint8_t>& payload);
  void inject(Passing packet) { injected.push_back(std::move(packet)); }

  // What defects remember of one QP.
  std::set<std::uint32_t> received;             // PSNs of writes
  std::vector<Passing> injected;                // to go out next
  std::map<std::uint32_t, Passing> first_sent;  // writes, by PSN
  std::vector<Completed> early;                 // completions that are not due
  std::vector<PostedWrite> posted;
  std::set<std::uint64_t> settled;
  wire::Sack low{};  // the last SACK that began at the lowest hole
  bool heard_sack = false, once = false;
  bool congested = false;  // a QP with a CC profile

 private:
  friend class TwinPort;
  Twin(const Defect& defect, std::shared_ptr<Twin*> self);
  Defect defect_;
};

}  // namespace mrc::conform
