// The outbox and outer headers: an EV becomes the route that a frame carries, where a port can carry one.
#include "datapath/outbox.h"

#include <gtest/gtest.h>

#include "datapath/testing.h"

namespace mrc::datapath::testing {
namespace {

port::Address address(const char* text) { return *port::parse_address(text); }

/// Every packet to anywhere takes one carrier, or two.
struct OneWay final : SourceRoutes {
  bool find(const nic::Gid& to, Ev ev, SourceRoute& out) const override {
    if (ev == Ev(0)) return false;
    out.first = address("fcbb:bb00:4000::");
    out.next = address("fcbb:bb00:e000::");
    out.carriers = static_cast<std::uint8_t>(1 + (to.bytes[15] & 1));
    return true;
  }
};

/// Notes what it is asked to send.
struct OuterPort final : port::Port {
  std::size_t tx(std::span<port::TxTrain> trains) override {
    for (const auto& t : trains)
      seen.push_back((t.outer != nullptr ? to_string(*t.outer) : "-") + std::string(" ") +
                     (t.outer_next != nullptr ? to_string(*t.outer_next) : "-"));
    return trains.size();
  }
  std::size_t rx(std::span<port::RxPacket>) override { return 0; }
  int wait_fd() const override { return -1; }
  port::Link link() const override { return {true, 9000, 0, 1}; }
  port::Address local() const override { return address("fd00::1"); }
  port::Capabilities capabilities() const override {
    return {.max_train = 1, .max_train_bytes = 9000, .max_pieces = 12, .max_burst = 64, .outer_ip = outer_ip};
  }
  const port::Counters& counters() const override { return counters_; }
  bool outer_ip = true;
  std::vector<std::string> seen;
  port::Counters counters_;
};

nic::Departure probe_to(const char* to, Ev ev) {
  nic::Departure d;
  d.transmit.packet.body = wire::EndpointRequest{};
  d.transmit.envelope.ev = ev;
  d.to.bytes = address(to).ip;
  return d;
}

// MRC-PORT-006
TEST(Outbox, TheEvBecomesTheOuterHeader) {
  const OneWay routes;
  OuterPort port;
  Outbox outbox(port, {}, {.routes = &routes});
  outbox.add(probe_to("fd00::2", Ev(0xC001)));
  outbox.add(probe_to("fd00::3", Ev(0xC001)));
  outbox.add(probe_to("fd00::2", Ev(0)));  // a way that the routes do not know leaves as it is
  outbox.flush();
  EXPECT_EQ(port.seen,
            (std::vector<std::string>{"fcbb:bb00:4000:: -", "fcbb:bb00:4000:: fcbb:bb00:e000::", "- -"}));
}

TEST(Outbox, APortWithoutOuterHeadersGetsNone) {
  const OneWay routes;
  OuterPort port;
  port.outer_ip = false;
  Outbox outbox(port, {}, {.routes = &routes});
  outbox.add(probe_to("fd00::2", Ev(0xC001)));
  outbox.flush();
  EXPECT_EQ(port.seen, std::vector<std::string>{"- -"});
}

}  // namespace
}  // namespace mrc::datapath::testing
