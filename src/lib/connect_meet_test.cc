// The handshake of openmrc/connect.h with peers that stop half way, and with processes that are set
// differently.
#include "lib/connect_meet.h"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <thread>

#include "lib/connect_fixture.h"
#include "lib/connect_terms.h"
#include "lib/progress.h"

namespace mrc::lib {
namespace {

using connect::Hello;
using connect::Type;
using testing::HasSubstr;

/// Callers made by hand, which say as much as a test wants.
struct Meet : Connect {
  connect::Party party(mrc_qp** which, int n) {
    auto made = connect::make_party(verbs->handle(), which, n, nullptr);
    EXPECT_TRUE(made) << made.error().what;
    return *made;
  }
  port::Fd call() {
    auto socket = connect::connect_tcp("127.0.0.1", port.c_str(), connect::deadline_after(5000));
    EXPECT_TRUE(socket) << socket.error().what;
    return *std::move(socket);
  }
  Hello hello(mrc_qp** which, int n) { return *connect::make_hello(party(which, n), nullptr, 0); }
  static void say(const port::Fd& socket, const connect::Message& message) {
    EXPECT_TRUE(connect::send_message(socket.get(), message, kNever));
  }
  static connect::Message hear(const port::Fd& socket) {
    const auto message = connect::receive_message(socket.get(), connect::deadline_after(5000));
    return message ? *message : connect::Message{0};
  }
  static std::string refusal(const port::Fd& socket) {
    for (auto m = hear(socket); m[0] != 0; m = hear(socket)) {
      if (static_cast<Type>(m[0]) == Type::refused) return {m.begin() + 1, m.end()};
    }
    return "none";
  }
  auto accept(Duration silence, Time deadline = kNever) {
    return connect::meet_caller(openmrc_listener_fd(listener), party(qps, 1), {}, deadline, silence);
  }
};

TEST_F(Meet, WhoGreetsAndThenFallsSilentKeepsNobodyWaiting) {
  const port::Fd dead = call(), half = call(), prompt = call();
  say(dead, connect::emit(hello(qps + 1, 1)));
  ASSERT_EQ(::send(half.get(), "\0", 1, MSG_NOSIGNAL), 1);
  say(prompt, connect::emit(hello(qps + 2, 1)));
  say(prompt, connect::emit_ready({}));
  ::testing::internal::CaptureStderr();
  const auto met = accept(1ms);
  const std::string log = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(met) << met.error().what;
  EXPECT_EQ(state(qps[0]), IBV_QPS_RTS);
  EXPECT_THAT(log, HasSubstr("libmrc: 127.0.0.1 greeted and then said nothing for "));
  EXPECT_THAT(log, HasSubstr("libmrc: 127.0.0.1 did not finish its greeting for "));
  EXPECT_THAT(refusal(dead), HasSubstr("greeted and then said nothing")) << "should it wake up";
}

TEST_F(Meet, AListenerThatFallsSilentAfterItsGreetingIsGivenUp) {
  const port::Fd caller = call();
  auto called = connect::accept_tcp(openmrc_listener_fd(listener), connect::deadline_after(5000));
  ASSERT_TRUE(called);
  say(*called, connect::emit(hello(qps + 1, 1)));
  auto met = connect::meet_listener(port::Fd(::dup(caller.get())), party(qps, 1), {}, kNever, 1ms);
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, ETIMEDOUT);
  EXPECT_THAT(met.error().what, HasSubstr("127.0.0.1 greeted and then said nothing"));
}

TEST_F(Meet, TheErrorOfOneWhoWaitedInVainSaysWhoCameHalfWay) {
  const port::Fd dead = call();
  say(dead, connect::emit(hello(qps + 1, 1)));
  const auto met = accept(1ms, steady_now() + 200ms);
  ASSERT_FALSE(met);
  EXPECT_EQ(met.error().code, ETIMEDOUT);
  EXPECT_THAT(met.error().what, HasSubstr("nobody connected in time (127.0.0.1 greeted and then"));
}

TEST_F(Meet, ACallerThatFailsLeavesTheQueuePairsForTheNext) {
  ASSERT_EQ(openmrc_prepare(qps, 1, nullptr), 0);
  ibv_recv_wr wr{}, *bad;
  EXPECT_EQ(mrc_post_recv(qps[0], &wr, &bad), 0);
  {
    const port::Fd dies = call();
    say(dies, connect::emit(hello(qps + 1, 1)));
  }
  EXPECT_EQ(accept(5s).error().code, ECONNRESET);
  EXPECT_EQ(state(qps[0]), IBV_QPS_INIT);
  openmrc_connection* client = nullptr;
  std::thread there([&] { EXPECT_EQ(connect_side(qps + 2, 1, nullptr, &client), 0) << client_error; });
  EXPECT_TRUE(accept(5s));
  there.join();
  openmrc_close(client, 0);
}

// A listener that spoke before it listened could wait for one that does the same.
TEST_F(Meet, TheLargestGreetingsMeet) {
  constexpr int kMany = OPENMRC_MAX_QPS;
  std::vector<mrc_qp*> here(kMany), there(kMany);
  for (auto* side : {&here, &there}) {
    for (mrc_qp*& qp : *side) qp = create();
  }
  const std::vector<char> data(OPENMRC_MAX_DATA, 'x');
  openmrc_connection *server = nullptr, *client = nullptr;
  std::thread other([&] {
    EXPECT_EQ(openmrc_connect("127.0.0.1", port.c_str(), verbs->handle(), there.data(), kMany, nullptr,
                              data.data(), data.size(), 10'000, &client),
              0)
        << openmrc_error();
  });
  EXPECT_EQ(openmrc_accept(listener, verbs->handle(), here.data(), kMany, nullptr, data.data(), data.size(),
                           10'000, &server),
            0)
      << openmrc_error();
  other.join();
  for (openmrc_connection* c : {server, client}) openmrc_close(c, 0);
  for (auto* side : {&here, &there}) {
    for (mrc_qp* qp : *side) EXPECT_EQ(mrc_destroy_qp(qp), 0);
  }
}

TEST_F(Meet, ProcessesThatAreSetDifferentlyHearWhichAndHow) {
  const struct {
    WireTerms terms;
    const char* ours;
    const char* theirs;
  } cases[] = {
      {{4792, true, 34, 36},
       "MRC_UDP_PORT is 4791 on this side and 4792 at the peer: give both the same",
       "MRC_UDP_PORT is 4792 on this side and 4791 at the peer: give both the same"},
      {{4791, false, 34, 36},
       "MRC_ICRC is 1 on this side and 0 at the peer: give both the same",
       "MRC_ICRC is 0 on this side and 1 at the peer: give both the same"},
      {{4791, true, 20, 36},
       "`trimmed` of MRC_DSCP is 34 on this side and 20 at the peer: give both the same",
       "`trimmed` of MRC_DSCP is 20 on this side and 34 at the peer: give both the same"},
      {{4791, true, 34, 22},
       "`trimmed_lasthop` of MRC_DSCP is 36 on this side and 22 at the peer: give both the same",
       "`trimmed_lasthop` of MRC_DSCP is 22 on this side and 36 at the peer: give both the same"},
  };
  for (const auto& c : cases) {
    const port::Fd caller = call();
    say(caller, connect::emit(hello(qps + 1, 1)));
    say(caller, connect::emit_ready(c.terms));
    const auto met = accept(5s);
    ASSERT_FALSE(met);
    EXPECT_EQ(met.error().code, EINVAL);
    EXPECT_EQ(met.error().what, c.ours);
    EXPECT_EQ(state(qps[0]), IBV_QPS_RESET);
    EXPECT_EQ(static_cast<Type>(hear(caller)[0]), Type::hello);
    auto ready = hear(caller);  // with which the caller finds out by itself
    ASSERT_EQ(static_cast<Type>(ready[0]), Type::ready);
    const auto agreed = connect::agree_on_terms(c.terms, std::span(ready).subspan(1));
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().what, c.theirs);
  }
}

TEST_F(Meet, ACallerFindsThatItsListenerIsSetDifferently) {
  std::thread there([&] {
    openmrc_connection* client = nullptr;
    EXPECT_EQ(connect_side(qps + 2, 1, nullptr, &client), EINVAL);
  });
  const auto called = connect::accept_tcp(openmrc_listener_fd(listener), connect::deadline_after(5000));
  ASSERT_TRUE(called);
  EXPECT_EQ(static_cast<Type>(hear(*called)[0]), Type::hello);
  say(*called, connect::emit(hello(qps + 1, 1)));
  EXPECT_EQ(static_cast<Type>(hear(*called)[0]), Type::ready);
  say(*called, connect::emit_ready({4792, true, 34, 36}));
  there.join();
  EXPECT_EQ(client_error, "MRC_UDP_PORT is 4791 on this side and 4792 at the peer: give both the same");
}

TEST(ConnectTerms, AnOlderPeerSaysNoneAndANewerMore) {
  EXPECT_TRUE(connect::agree_on_terms({}, {}));
  const std::uint8_t unknown[] = {200, 1, 2, 3, 4};
  EXPECT_TRUE(connect::agree_on_terms({}, unknown));
  const std::uint8_t torn[] = {1, 0, 0};
  EXPECT_TRUE(connect::agree_on_terms({}, torn));
}

}  // namespace
}  // namespace mrc::lib
