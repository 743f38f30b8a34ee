// The TCP connection beside queue pairs: where it can be made, and what it must not take for the end of a
// peer.
#include "lib/connect_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>

#include "port/testing.h"

namespace mrc::lib::connect {
namespace {

std::string port_of(const port::Fd& listener) { return std::to_string(local_port(listener.get())); }

TEST(ConnectSocket, AnAddressThatWasWrittenOutIsMeantWhateverElseTheHostHas) {
  const auto sandbox = port::testing::Sandbox::make();
  if (!sandbox) GTEST_SKIP() << "NOT TESTED, no namespaces here: " << sandbox.error().what;
  ASSERT_TRUE((*sandbox)->left_shell("ip addr del 10.77.0.1/24 dev l0"));
  (*sandbox)->left([] {
    const auto listener = listen_tcp("127.0.0.1", "0");
    ASSERT_TRUE(listener) << listener.error().what;
    const auto caller = connect_tcp("127.0.0.1", port_of(*listener).c_str(), deadline_after(5000));
    EXPECT_TRUE(caller) << caller.error().what;
  });
}

TEST(ConnectSocket, AllAddressesAreThoseOfBothFamilies) {
  const auto listener = listen_tcp(nullptr, "0");
  ASSERT_TRUE(listener) << listener.error().what;
  for (const char* host : {"127.0.0.1", "::1"}) {
    if (!listen_tcp(host, "0")) continue;  // this host does not have it
    const auto caller = connect_tcp(host, port_of(*listener).c_str(), deadline_after(0));
    EXPECT_TRUE(caller) << caller.error().what;
  }
}

// The connection goes over one plane. Its peer has not gone when that plane has been dead for hours.
TEST(ConnectSocket, NobodyIsGivenUpBecauseOnePlaneIsDead) {
  const auto listener = listen_tcp("127.0.0.1", "0");
  ASSERT_TRUE(listener) << listener.error().what;
  const auto caller = connect_tcp("127.0.0.1", port_of(*listener).c_str(), deadline_after(5000));
  ASSERT_TRUE(caller) << caller.error().what;
  const auto called = accept_tcp(listener->get(), deadline_after(5000));
  ASSERT_TRUE(called) << called.error().what;
  for (const int fd : {caller->get(), called->get()}) {
    int asks = -1;
    socklen_t size = sizeof asks;
    ASSERT_EQ(::getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &asks, &size), 0);
    EXPECT_EQ(asks, 0);
  }
}

// Before two sides have met, another plane would do.
TEST(ConnectSocket, AWayThatIsWatchedIsGivenUpWhenItCarriesNothing) {
  const auto sandbox = port::testing::Sandbox::make();
  if (!sandbox) GTEST_SKIP() << "NOT TESTED, no namespaces here: " << sandbox.error().what;
  Result<port::Fd> listener = Error{}, caller = Error{};
  (*sandbox)->right([&] { listener = listen_tcp("10.77.0.2", "0"); });
  ASSERT_TRUE(listener) << listener.error().what;
  (*sandbox)->left(
      [&] { caller = connect_tcp("10.77.0.2", port_of(*listener).c_str(), deadline_after(5000)); });
  ASSERT_TRUE(caller) << caller.error().what;
  watch_way(caller->get(), true);
  ASSERT_TRUE((*sandbox)->right_shell("ip addr del 10.77.0.2/24 dev r0"));
  const auto heard = receive_message(caller->get(), deadline_after(60'000));
  ASSERT_FALSE(heard);
  EXPECT_EQ(heard.error().code, EHOSTDOWN) << heard.error().what;
}

TEST(ConnectSocket, WhoSaysNothingKeepsNobodyWaiting) {
  const auto listener = listen_tcp("127.0.0.1", "0");
  ASSERT_TRUE(listener) << listener.error().what;
  const auto silent = connect_tcp("127.0.0.1", port_of(*listener).c_str(), deadline_after(5000));
  const auto speaker = connect_tcp("127.0.0.1", port_of(*listener).c_str(), deadline_after(5000));
  ASSERT_TRUE(silent && speaker);
  ASSERT_EQ(::send(speaker->get(), "x", 1, MSG_NOSIGNAL), 1);
  const auto called = accept_speaker(listener->get(), kNever, 1ms);
  ASSERT_TRUE(called) << called.error().what;
  char byte = 0;
  EXPECT_EQ(::recv(called->get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
}

TEST(ConnectSocket, OneThatSaysNothingIsTimeUpToo) {
  const auto listener = listen_tcp("127.0.0.1", "0");
  ASSERT_TRUE(listener) << listener.error().what;
  const auto silent = connect_tcp("127.0.0.1", port_of(*listener).c_str(), deadline_after(5000));
  const auto called = accept_speaker(listener->get(), deadline_after(10));
  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code, ETIMEDOUT);
}

}  // namespace
}  // namespace mrc::lib::connect
