// The mapper on the real kernel: what the lab breaks, the hosts' mappers name; what is forged, they refuse.
#include <gtest/gtest.h>

#include "hosts.h"
#include "tools/map_nodes.h"

namespace mrc {
namespace {

using lab::Lab;
using map::Fault;
using tools::MapNodes;
using Names = std::set<std::string>;

topo::Topology fabric() {
  return *topo::Topology::make({.planes = 2, .tiers = 2, .t0 = 2, .t1 = 2, .hosts_per_t0 = 2});
}

/// Mappers on all hosts of a lab, and one survey of what they say.
struct Mapped {
  explicit Mapped(Lab& lab) : nodes(MapNodes::start(lab, topo, settings)) {}

  Names named() const {
    Names out;
    for (const map::Finding& f : survey.findings())
      out.insert(name(topo, f.culprit) + (f.culprit.fault == Fault::dead ? " dead" : " lossy"));
    return out;
  }
  /// Takes reports until the findings are these; a broken test gets no more than this long. Mappers that wait
  /// for a core find all of it lossy, and a finding that came back is held for longer each time.
  bool until(const Names& wanted, Duration patience = 100s) {
    for (const Time end = map::Mapper::now() + patience; map::Mapper::now() < end && named() != wanted;) {
      nodes->wait(map::Mapper::now() + 10ms, survey);
      survey.advance(map::Mapper::now());
    }
    return named() == wanted;
  }
  std::uint64_t count(std::size_t host, map::Count c) const { return nodes->reports()[host].counters[c]; }

  topo::Topology topo = fabric();
  map::Settings settings;
  map::Survey survey{topo, settings};
  Result<MapNodes> nodes;
};

#define MAPPED_LAB_OR_SKIP(lab, mapped) \
  MRC_LAB_OR_SKIP(lab, fabric(), {});   \
  Mapped mapped(lab);                   \
  ASSERT_TRUE(mapped.nodes) << mapped.nodes.error().what

// MRC-FAB-031
TEST(MapperLab, NamesWhatIsDeadAndForgetsWhatHealed) {
  MAPPED_LAB_OR_SKIP(lab, mapped);
  for (const char* what : {"p0.t0.0-p0.t1.1", "p1.t0.1>p1.t1.0", "h3-p0.t0.1", "p1.t1.1"}) {
    ASSERT_TRUE(lab.fail(what, true));
    EXPECT_TRUE(mapped.until({std::string(what) + " dead"})) << what << ": " << *mapped.named().begin();
    ASSERT_TRUE(lab.heal());
    EXPECT_TRUE(mapped.until({})) << what;
  }
}

// MRC-FAB-033
TEST(MapperLab, NamesAGrayLink) {
  MAPPED_LAB_OR_SKIP(lab, mapped);
  ASSERT_TRUE(lab.drop("p0.t0.0>h1", 0.2));
  EXPECT_TRUE(mapped.until({"p0.t0.0>h1 lossy"}));
}

// MRC-FAB-034
TEST(MapperLab, RefusesForgeries) {
  MAPPED_LAB_OR_SKIP(lab, mapped);
  const std::uint16_t port = mapped.settings.udp_port;
  ASSERT_TRUE(mapped.until({}));
  const int sent = testing::on_node(lab, "h2", [&] {
    const lab::Fd fd(::socket(AF_INET6, SOCK_DGRAM, 0));
    std::array<std::uint8_t, map::ProbePacket::kSize> bytes{};
    const auto send = [&](const map::ProbePacket& p, std::uint16_t to) {
      emit(p, bytes.data());
      sockaddr_in6 at{};
      at.sin6_family = AF_INET6;
      at.sin6_port = htons(to);
      const Ipv6 h0 = mapped.topo.address(topo::HostId(0), 0);
      std::copy(h0.bytes.begin(), h0.bytes.end(), at.sin6_addr.s6_addr);
      return ::sendto(fd.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&at), sizeof at) >
             0;
    };
    map::ProbePacket answer;  // of h0's own probe, with a nonce that can not be its
    map::ProbePacket relay;   // of a host that is not the sender
    relay.host = topo::HostId(3);
    relay.name.shape = map::Shape::relay_out;
    relay.name.other_plane = 1;
    const bool ok = send(answer, port) && send(relay, static_cast<std::uint16_t>(port + 1)) &&
                    testing::send_to(fd.get(), mapped.topo.address(topo::HostId(0), 0), port, 'x');
    return ok ? 0 : 1;
  });
  ASSERT_EQ(sent, 0);
  const Time end = map::Mapper::now() + 20s;
  while (mapped.count(0, map::Count::refused) < 2 || mapped.count(0, map::Count::relay_refused) < 1) {
    ASSERT_LT(map::Mapper::now().time_since_epoch().count(), end.time_since_epoch().count())
        << mapped.count(0, map::Count::refused) << ' ' << mapped.count(0, map::Count::relay_refused);
    mapped.nodes->wait(end, mapped.survey);
  }
  EXPECT_EQ(mapped.count(0, map::Count::relayed), 0u);
}

}  // namespace
}  // namespace mrc
