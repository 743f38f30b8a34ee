#include "sim/wire_path.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace mrc::sim {
namespace {

constexpr std::size_t kEthernetHeader = 14;
constexpr std::array<std::uint8_t, 65536> kZeros{};

wire::IpAddress ip_address(const Ipv6& a) { return wire::IpAddress::v6_from(a.bytes.data()); }

}  // namespace

WirePath::WirePath(const topo::Topology& topo, const Encapsulation& encapsulation)
    : topo_(topo),
      srv6_(encapsulation.srv6),
      beyond_(encapsulation.ethernet - static_cast<std::uint32_t>(kEthernetHeader)) {
  settings_.locator = topo.spec().locator;
  settings_.trim_lengths = wire::TrimLengths::keep;
}

void WirePath::put(const Cargo& cargo, const wire::Envelope& envelope, std::uint32_t destination,
                   const topo::Choice& choice) {
  const topo::HostId from(cargo.source), to(destination);
  wire::Route route{ip_address(topo_.address(from, choice.plane)),
                    ip_address(topo_.address(to, choice.plane))};
  if (srv6_) {
    const topo::Carriers carriers = topo_.carriers(topo_.usids(topo_.path(from, to, choice)));
    MRC_CHECK(carriers.count == 1);  // a second one would need an SRH, whose bytes values do not count
    route.usid_carrier = ip_address(carriers.addresses[0]);
  }
  const auto* write = std::get_if<wire::Write>(&cargo.packet.body);
  const wire::Bytes payload(kZeros.data(), write != nullptr ? write->payload : 0u);
  std::vector<std::uint8_t> frame(cargo.bytes - beyond_);
  frame[12] = 0x86, frame[13] = 0xDD;
  const std::size_t l3 = wire::emit_l3(cargo.packet, envelope, route, payload, settings_.wire,
                                       wire::MutableBytes(frame).subspan(kEthernetHeader));
  MRC_CHECK(l3 + kEthernetHeader == frame.size());
  const std::lock_guard lock(mutex_);
  frames_[cargo.slot] = std::move(frame);
}

std::optional<WirePath::Arrived> WirePath::take(const Cargo& cargo) {
  std::vector<std::uint8_t> bytes;
  {
    const std::lock_guard lock(mutex_);
    const auto found = frames_.find(cargo.slot);
    MRC_CHECK(found != frames_.end());
    bytes = std::move(found->second);
    frames_.erase(found);
  }
  fabric::Frame decided = cargo;
  decided.bytes -= beyond_;
  const std::size_t length = fabric::write_frame(decided, bytes, settings_);
  wire::Parsed parsed;
  const Verdict verdict = wire::parse_l2(wire::Bytes(bytes).first(length), settings_.wire, parsed);
  if (verdict != Verdict::ok && verdict != Verdict::trimmed_ok) return std::nullopt;
  return Arrived{parsed.packet, parsed.envelope};
}

}  // namespace mrc::sim
