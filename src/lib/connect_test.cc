// openmrc/connect.h: two sides of one process meet over TCP on loopback.
#include <gmock/gmock.h>
#include <openmrc/connect.h>
#include <openmrc/planes.h>
#include <poll.h>
#include <sys/socket.h>

#include <functional>
#include <thread>

#include "lib/connect_fixture.h"
#include "lib/connect_message.h"
#include "lib/connect_socket.h"
#include "lib/qp_shell.h"

namespace mrc::lib {
namespace {

using connect::Hello;
using testing::HasSubstr;

TEST_F(Connect, BothSidesReachRtsAndKnowEachOther) {
  openmrc_params params;
  openmrc_default_params(&params);
  params.mpr_dest = 16;
  params.max_wimm_dest = 64;
  params.path_mtu = IBV_MTU_1024;
  openmrc_connection *server = nullptr, *client = nullptr;
  std::thread there([&] { EXPECT_EQ(connect_side(qps + 2, 2, nullptr, &client), 0) << client_error; });
  ASSERT_EQ(openmrc_accept(listener, verbs->handle(), qps, 2, &params, "from the server", 15, 5000, &server),
            0)
      << openmrc_error();
  there.join();
  for (mrc_qp* qp : qps) EXPECT_EQ(state(qp), IBV_QPS_RTS);
  EXPECT_EQ(openmrc_agreed(client)->mpr, 16);  // what the server accepts
  EXPECT_EQ(openmrc_agreed(client)->max_wimm, 64);
  EXPECT_EQ(openmrc_agreed(client)->path_mtu, IBV_MTU_1024);
  EXPECT_EQ(openmrc_agreed(server)->path_mtu, IBV_MTU_1024);
  EXPECT_EQ(openmrc_agreed(server)->mpr, 64);
  size_t size = 0;
  EXPECT_STREQ(std::string(static_cast<const char*>(openmrc_peer_data(server, &size)), 15).c_str(),
               "from the client");
  EXPECT_EQ(size, 15u);

  char got[8] = {};
  size_t got_size = sizeof got;
  std::thread barrier([&] {
    char other[2];
    size_t other_size = sizeof other;
    EXPECT_EQ(openmrc_exchange(client, "ping", 4, other, &other_size, 5000), EMSGSIZE);
    EXPECT_EQ(other_size, 4u);
  });
  EXPECT_EQ(openmrc_exchange(server, "pong", 4, got, &got_size, 5000), 0);
  barrier.join();
  EXPECT_STREQ(got, "ping");
  std::thread bye([&] { EXPECT_EQ(openmrc_close(client, 5000), 0); });
  EXPECT_EQ(openmrc_close(server, 5000), 0);
  bye.join();
}

TEST_F(Connect, GoodbyeIsHeardAndWaitsForNobody) {
  openmrc_connection *server = nullptr, *client = nullptr;
  std::thread there([&] { EXPECT_EQ(connect_side(qps + 2, 1, nullptr, &client), 0) << client_error; });
  ASSERT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, 5000, &server), 0);
  there.join();
  pollfd fd{openmrc_connection_fd(client), POLLIN, 0};
  EXPECT_EQ(::poll(&fd, 1, 0), 0);
  EXPECT_EQ(openmrc_say_goodbye(server), 0);
  EXPECT_EQ(openmrc_say_goodbye(server), 0) << "once is enough";
  EXPECT_EQ(::poll(&fd, 1, 5000), 1);
  EXPECT_EQ(openmrc_exchange(server, "x", 1, nullptr, nullptr, 0), EINVAL);
  EXPECT_EQ(openmrc_close(client, 5000), 0);
  EXPECT_EQ(openmrc_close(server, 5000), 0);
}

TEST_F(Connect, AMismatchIsToldToBoth) {
  openmrc_connection *server = nullptr, *client = nullptr;
  std::thread there([&] { EXPECT_NE(connect_side(qps + 2, 2, nullptr, &client), 0); });
  EXPECT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, 5000, &server), EINVAL);
  there.join();
  EXPECT_STREQ(openmrc_error(), "this side brings 1 queue pair, the peer 2: both must bring the same number");
  EXPECT_THAT(client_error, HasSubstr("queue pairs"));
}

TEST_F(Connect, APeerThatDiesHalfWayIsNoticed) {
  openmrc_connection* server = nullptr;
  std::thread there([&] {
    auto socket = connect::connect_tcp("127.0.0.1", port.c_str(), connect::deadline_after(5000));
    Hello hello;
    hello.mtu = 5;
    hello.mpr_dest = 8;
    hello.max_wimm_dest = 1;
    hello.gid[10] = hello.gid[11] = 0xFF;
    hello.qps = {{99, 0}};
    EXPECT_TRUE(connect::send_message(socket->get(), connect::emit(hello), kNever));
  });  // and dies before it is ready
  EXPECT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, 5000, &server),
            ECONNRESET);
  there.join();
}

TEST_F(Connect, AnotherProgramAtThatPortIsRefused) {
  openmrc_connection* server = nullptr;
  std::thread there([&] {
    auto socket = connect::connect_tcp("127.0.0.1", port.c_str(), connect::deadline_after(5000));
    EXPECT_EQ(::send(socket->get(), "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    char byte;
    while (::recv(socket->get(), &byte, 1, 0) > 0 || errno == EAGAIN) continue;
  });
  EXPECT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, 5000, &server), EPROTO);
  EXPECT_THAT(openmrc_error(), HasSubstr("another program"));
  there.join();
}

TEST_F(Connect, NobodyThereAndBadArguments) {
  openmrc_connection* c = nullptr;
  EXPECT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, 10, &c), ETIMEDOUT);
  EXPECT_EQ(openmrc_connect("127.0.0.1", "1", verbs->handle(), qps, 1, nullptr, nullptr, 0, 10, &c),
            ECONNREFUSED);
  EXPECT_THAT(openmrc_error(), HasSubstr("does the peer listen"));
  EXPECT_EQ(openmrc_connect("127.0.0.1", port.c_str(), verbs->handle(), qps, 0, nullptr, nullptr, 0, 10, &c),
            EINVAL);
  openmrc_params params;
  openmrc_default_params(&params);
  params.gid_index = 200;
  EXPECT_EQ(openmrc_connect("127.0.0.1", port.c_str(), verbs->handle(), qps, 1, &params, nullptr, 0, 100, &c),
            EINVAL);
  EXPECT_THAT(openmrc_error(), HasSubstr("no GID at index 200"));
  params.gid_index = 1;  // link-local: in the table, and nothing listens there
  EXPECT_EQ(openmrc_connect("127.0.0.1", port.c_str(), verbs->handle(), qps, 1, &params, nullptr, 0, 100, &c),
            EINVAL);
  EXPECT_THAT(openmrc_error(), HasSubstr("is not 127.0.0.1"));
}

TEST_F(Connect, ThePathMtuFitsEveryPort) {
  DeviceConfig config = device->config();
  config.ports.push_back(config.ports[0]);
  config.ports[1].id = PortId(2);
  MemoryDevice two(config);
  EXPECT_EQ(active_mtu(two), IBV_MTU_4096);
  two.set_link_mtu(PortId(2), 1500);
  EXPECT_EQ(active_mtu(two), IBV_MTU_1024);
}

TEST_F(Connect, EachWrongWishIsNamedBeforeAnybodyIsMet) {
  const struct {
    const char* name;
    std::function<void(openmrc_params&)> spoil;
  } cases[] = {
      {"mpr_dest is 7", [](auto& p) { p.mpr_dest = 7; }},
      {"mpr_dest is 255", [](auto& p) { p.mpr_dest = 255; }},
      {"max_wimm_dest is 0", [](auto& p) { p.max_wimm_dest = 0; }},
      {"path_mtu is 0", [](auto& p) { p.path_mtu = static_cast<ibv_mtu>(0); }},
      {"service_level is 16", [](auto& p) { p.service_level = 16; }},
      {"timeout is 25", [](auto& p) { p.timeout = 25; }},
      {"linear_retries is 8", [](auto& p) { p.linear_retries = 8; }},
      {"exp_retries is 26", [](auto& p) { p.exp_retries = 26; }},
  };
  openmrc_connection* c = nullptr;
  for (const auto& wrong : cases) {
    openmrc_params params;
    openmrc_default_params(&params);
    wrong.spoil(params);
    EXPECT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, &params, nullptr, 0, -1, &c), EINVAL);
    EXPECT_THAT(openmrc_error(), HasSubstr(wrong.name));
  }
  EXPECT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 5, -1, &c), EINVAL);
  EXPECT_THAT(openmrc_error(), HasSubstr("NULL"));
}

TEST_F(Connect, WhoWasLeftHalfWayHearsWhatToDo) {
  openmrc_connection *server = nullptr, *client = nullptr;
  std::thread there([&] { EXPECT_EQ(connect_side(qps + 2, 1, nullptr, &client), 0) << client_error; });
  ASSERT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, 5000, &server), 0);
  there.join();
  openmrc_connection* again = nullptr;
  EXPECT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, -1, &again), EINVAL);
  EXPECT_THAT(openmrc_error(), HasSubstr("in RTS: connecting begins in RESET or INIT"));
  EXPECT_EQ(openmrc_say_goodbye(server), 0);
  EXPECT_EQ(openmrc_close(client, 5000), 0);
  EXPECT_EQ(openmrc_close(server, 5000), 0);
}

TEST_F(Connect, AGoodbyeMeetsAnExchange) {
  openmrc_connection *server = nullptr, *client = nullptr;
  std::thread there([&] { EXPECT_EQ(connect_side(qps + 2, 1, nullptr, &client), 0) << client_error; });
  ASSERT_EQ(openmrc_accept(listener, verbs->handle(), qps, 1, nullptr, nullptr, 0, 5000, &server), 0);
  there.join();
  std::thread closes([&] { EXPECT_EQ(openmrc_close(server, 5000), 0) << openmrc_error(); });
  char room[4];
  std::size_t size = sizeof room;
  EXPECT_EQ(openmrc_exchange(client, "x", 1, room, &size, 5000), ECONNRESET);
  EXPECT_STREQ(openmrc_error(), "the peer said goodbye");
  EXPECT_EQ(openmrc_exchange(client, "x", 1, room, &size, 5000), ECONNRESET);
  EXPECT_EQ(openmrc_close(client, 5000), 0) << openmrc_error();
  closes.join();
}

TEST_F(Connect, APortThatDoesNotExistIsNotAnother) {
  openmrc_listener* other = nullptr;
  EXPECT_EQ(openmrc_listen("127.0.0.1", "65536", &other), EINVAL);
  EXPECT_THAT(openmrc_error(), HasSubstr("no TCP port 65536"));
  openmrc_connection* c = nullptr;
  EXPECT_EQ(openmrc_connect("127.0.0.1", "4294967297", verbs->handle(), qps, 1, nullptr, nullptr, 0, -1, &c),
            EINVAL);
}

TEST_F(Connect, AnAddressOfAnotherHostIsNamed) {
  openmrc_listener* other = nullptr;
  EXPECT_EQ(openmrc_listen("192.0.2.1", "0", &other), EADDRNOTAVAIL);
  EXPECT_THAT(openmrc_error(), HasSubstr("listen at 192.0.2.1 TCP port 0"));
}

TEST_F(Connect, PlanesAreThereOnceThereIsAPeer) {
  char text[100];
  EXPECT_EQ(openmrc_describe_planes(nullptr, text, sizeof text), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(openmrc_describe_planes(qps[0], text, sizeof text), -1);
  EXPECT_EQ(errno, ENOTCONN);
  EXPECT_EQ(openmrc_describe_planes(qps[0], nullptr, 1), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Connect, ReceivesCanBePostedBeforehand) {
  ASSERT_EQ(openmrc_prepare(qps, 1, nullptr), 0);
  EXPECT_EQ(state(qps[0]), IBV_QPS_INIT);
  ibv_recv_wr wr{}, *bad;
  EXPECT_EQ(mrc_post_recv(qps[0], &wr, &bad), 0);
}

TEST(ConnectMessage, HellosSurviveBytesAndHostileOnesDont) {
  Hello hello;
  hello.gid[3] = 7;
  hello.mtu = 4;
  hello.mpr_dest = 9;
  hello.max_wimm_dest = 300;
  hello.trim_nack = true;
  hello.qps = {{1, 2}, {3, 4}};
  hello.data = {5, 6, 7};
  auto bytes = connect::emit(hello);
  const std::span body = std::span(bytes).subspan(1);
  EXPECT_EQ(*connect::parse_hello(body), hello);
  for (std::size_t n = 0; n < body.size(); ++n) EXPECT_FALSE(connect::parse_hello(body.first(n))) << n;
  body[29] = 0xFF;  // four billion QPs
  EXPECT_FALSE(connect::parse_hello(body));
}

TEST(ConnectMessage, VersionsSayWhoMustUpdate) {
  Hello ours, theirs;
  ours.qps = theirs.qps = {{1, 1}};
  theirs.mpr_dest = 8;
  theirs.max_wimm_dest = 1;
  theirs.mtu = 3;
  ours.mtu = 5;
  EXPECT_EQ(connect::agree(ours, theirs, {})->mtu, 3);
  theirs.max_wimm_dest = 0;
  EXPECT_THAT(connect::agree(ours, theirs, {}).error().what, HasSubstr("raise max_wimm_dest there"));
  theirs.version = theirs.oldest = 7;
  EXPECT_THAT(connect::agree(ours, theirs, {}).error().what, HasSubstr("update this side"));
  ours.version = ours.oldest = 9;
  EXPECT_THAT(connect::agree(ours, theirs, {}).error().what, HasSubstr("update the peer"));
}

}  // namespace
}  // namespace mrc::lib
