// For tests of seats: processes that share one UDP port, report what reaches them, and can be killed.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <csignal>
#include <optional>

#include "port/seat.h"
#include "port/traffic_test_support.h"
#include "port/udp_port.h"

namespace mrc::port {

using testing::Sandbox;
using testing::TestTrain;

inline const Address kLeft = *parse_address("fd77::1");
inline const Address kRight = *parse_address("fd77::2");

/// What a member tells its parent: where it sits, once; then each packet that it got.
struct Report {
  enum Kind : int { seated, failed, packet } kind;
  unsigned index;     // seated
  int error;          // failed
  std::uint32_t qpn;  // packet
  unsigned size;
};

inline void tell(int pipe, const Report& report) {
  if (::write(pipe, &report, sizeof report) < 0) ::_exit(2);
}

/// The life of a member: takes a seat, opens a port, reports packets until the pipe's other end is closed. A
/// deaf one attends to its mailbox instead and never looks there.
[[noreturn]] inline void live(int pipe, const SeatOptions& options, bool deaf) {
  auto seat = Seat::take(options);
  if (!seat) {
    tell(pipe, {Report::failed, 0, seat.error().code, 0, 0});
    ::_exit(1);
  }
  auto port = UdpPort::open({.local = kLeft}, *seat);
  if (!port) {
    tell(pipe, {Report::failed, 0, port.error().code, 0, 0});
    ::_exit(1);
  }
  if (deaf) (*port)->attend();
  tell(pipe, {Report::seated, (*seat)->index(), 0, 0, 0});
  for (;;) {
    pollfd ready[] = {{(*port)->wait_fd(), POLLIN, 0}, {(*port)->event_fd(), POLLIN, 0}, {pipe, POLLIN, 0}};
    ::poll(ready, 3, -1);
    if (ready[2].revents != 0) ::_exit(0);
    (*port)->service();
    if (deaf) continue;
    RxPacket packets[8];
    while (const std::size_t n = (*port)->rx(packets))
      for (std::size_t i = 0; i < n; ++i) {
        const auto* b = reinterpret_cast<const unsigned char*>(packets[i].data);
        tell(pipe, {Report::packet, 0, 0, static_cast<std::uint32_t>(b[5] << 16 | b[6] << 8 | b[7]),
                    packets[i].size});
      }
  }
}

class Member {
 public:
  explicit Member(const SeatOptions& options = {}, bool deaf = false) {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    pipe_ = Fd(pair[0]);
    pid_ = ::fork();
    if (pid_ == 0) {
      pipe_.reset();
      live(pair[1], options, deaf);
    }
    ::close(pair[1]);
  }
  ~Member() {
    pipe_.reset();
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
  }
  Member(const Member&) = delete;

  std::optional<Report> hear(int timeout_ms = 5000) {
    pollfd ready{pipe_.get(), POLLIN, 0};
    Report report;
    if (::poll(&ready, 1, timeout_ms) != 1) return std::nullopt;
    if (::read(pipe_.get(), &report, sizeof report) != sizeof report) return std::nullopt;
    return report;
  }
  bool await_seat() {
    const auto report = hear();
    if (!report || report->kind != Report::seated) return false;
    index_ = report->index;
    return true;
  }
  void signal(int number) { ::kill(pid_, number); }
  void kill_now() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  unsigned index() const { return index_; }
  Qpn qpn(std::uint32_t nth = 0) const { return Qpn(Steering{}.qpns_of(index_).first.value + nth); }
  pid_t pid() const { return pid_; }

 private:
  Fd pipe_;
  pid_t pid_ = -1;
  unsigned index_ = 0;
};

inline std::string packet_to(Qpn qpn, std::size_t size = 100) {
  std::string bytes(size, 'p');
  bytes[4] = 0;
  bytes[5] = static_cast<char>(qpn.value >> 16);
  bytes[6] = static_cast<char>(qpn.value >> 8);
  bytes[7] = static_cast<char>(qpn.value);
  return bytes;
}

class SeatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = Sandbox::make();
    if (!made) GTEST_SKIP() << "no network namespaces here: " << made.error().what;
    sandbox_ = std::move(*made);
    sandbox_->right([&] {
      sender_ = std::move(*UdpPort::open({.local = kRight}));
      ASSERT_EQ(sender_->prepare_source_port(50000), 0);
    });
    sandbox_->stay_left();
  }
  void send(const std::string& bytes, std::uint32_t packet_bytes) {
    TestTrain out(bytes, packet_bytes, kLeft, 50000);
    ASSERT_EQ(sender_->tx({&out.train, 1}), 1u);
    ASSERT_EQ(out.train.error, 0);
  }
  void send(Qpn qpn) { send(packet_to(qpn), 100); }
  void expect_own_packet(Member& member, Qpn qpn) {
    send(qpn);
    const auto got = member.hear();
    ASSERT_TRUE(got);
    EXPECT_EQ(got->kind, Report::packet);
    EXPECT_EQ(got->qpn, qpn.value);
  }

  std::unique_ptr<Sandbox> sandbox_;
  std::unique_ptr<UdpPort> sender_;
};

}  // namespace mrc::port
