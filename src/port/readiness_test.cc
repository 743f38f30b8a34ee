#include "port/readiness.h"

#include <gtest/gtest.h>

#include "port/traffic_test_support.h"
#include "port/udp_port.h"

namespace mrc::port::testing {
namespace {

std::unique_ptr<UdpPort> open(const char* where) {
  auto port = UdpPort::open({.local = *parse_address(where), .udp_port = 47915});
  EXPECT_TRUE(port) << port.error().what;
  return port ? std::move(*port) : nullptr;
}

TEST(Readiness, NamesThePortThatHasSomething) {
  const auto quiet = open("127.0.0.1"), busy = open("127.0.0.2");
  ASSERT_TRUE(quiet && busy);
  Port* const ports[] = {quiet.get(), busy.get()};
  Readiness readiness(ports);
  const auto all = [](std::size_t) { return true; };
  readiness.look(all);
  EXPECT_FALSE(readiness.readable(0));
  EXPECT_FALSE(readiness.readable(1));
  TestTrain train("something", 9, *parse_address("127.0.0.2"), 50'001);
  ASSERT_EQ(quiet->tx(std::span(&train.train, 1)), 1u);
  wait(*busy);
  readiness.look(all);
  EXPECT_FALSE(readiness.readable(0));
  EXPECT_TRUE(readiness.readable(1));
  readiness.look([](std::size_t i) { return i == 0; });
  EXPECT_FALSE(readiness.readable(1)) << "nobody asked";
  EXPECT_EQ(receive(*busy, 1).size(), 1u);
  readiness.look(all);
  EXPECT_FALSE(readiness.readable(1));
}

}  // namespace
}  // namespace mrc::port::testing
