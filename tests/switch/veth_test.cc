// `mrc switch`'s switch between kernel hosts: delivery, trimming that a UDP socket can see, and ECN.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <sstream>

#include "lab/switch_control.h"
#include "small_fabric.h"

namespace mrc::testing {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kTrimmable = 18, kControl = 46, kTrimmed = 34, kTrimmedLasthop = 36;
constexpr std::uint8_t kEct0 = 2, kCe = 3;

struct Datagram {
  Bytes payload;
  std::uint8_t traffic_class = 0;
};

class Conversation {
 public:
  SmallFabric fabric;
  std::vector<Datagram> arrived;

  std::optional<std::string> start(int small) {
    if (auto refused = fabric.start(small)) return refused;
    from_ = fabric.udp_socket(0);
    to_ = fabric.udp_socket(1);
    return from_ < 0 || to_ < 0 ? std::optional<std::string>("no UDP sockets") : std::nullopt;
  }
  void send(const Bytes& payload, std::uint8_t dscp) {
    const int traffic_class = dscp << 2 | kEct0;
    setsockopt(from_, IPPROTO_IPV6, IPV6_TCLASS, &traffic_class, sizeof traffic_class);
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_port = htons(4791);
    std::memcpy(&at.sin6_addr, fabric.topo().address(topo::HostId(1), 0).bytes.data(), 16);
    if (sendto(from_, payload.data(), payload.size(), 0, reinterpret_cast<sockaddr*>(&at), sizeof at) < 0)
      perror("sendto");
  }
  void segment_by(int bytes) { setsockopt(from_, SOL_UDP, UDP_SEGMENT, &bytes, sizeof bytes); }
  /// Runs the fabric until this many datagrams have arrived in all.
  bool await(std::size_t count) {
    return fabric.run_until([&] {
      while (receive()) {
      }
      return arrived.size() >= count;
    });
  }

 private:
  bool receive() {
    Bytes buffer(4096);
    iovec piece{buffer.data(), buffer.size()};
    char control[64];
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(to_, &message, 0);
    if (n < 0) return false;
    buffer.resize(static_cast<std::size_t>(n));
    int traffic_class = -1;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      if (c->cmsg_type == IPV6_TCLASS) std::memcpy(&traffic_class, CMSG_DATA(c), sizeof traffic_class);
    }
    arrived.push_back({std::move(buffer), static_cast<std::uint8_t>(traffic_class)});
    return true;
  }
  int from_ = -1, to_ = -1;
};

Bytes pattern(std::size_t size, int seed) {
  Bytes out(size);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(seed) * 31);
  return out;
}

std::string failure(const char* what, Conversation& c) {
  std::string out = std::string(what) + " failed; " + std::to_string(c.arrived.size()) + " arrived";
  for (lab::SoftSwitch* sw : {&c.fabric.t0(0), &c.fabric.t1(), &c.fabric.t0(1)})
    out += "\n" + lab::stats_json(*sw);
  return out;
}
#define REQUIRE(condition) \
  if (!(condition)) return failure(#condition, c)

std::string delivers(Conversation& c) {
  for (int i = 0; i < 100; ++i) {
    c.send(pattern(static_cast<std::size_t>(20 * i), i), kTrimmable);
    REQUIRE(c.await(static_cast<std::size_t>(i) + 1));
    REQUIRE(c.arrived.back().payload == pattern(static_cast<std::size_t>(20 * i), i));
    REQUIRE(c.arrived.back().traffic_class == (kTrimmable << 2 | kEct0));
  }
  REQUIRE(c.fabric.t0(0).counters().solicitations > 0);
  return {};
}

/// What a kernel hands over in one frame, the switch takes apart: every datagram arrives, sums right.
std::string delivers_trains(Conversation& c) {
  constexpr std::size_t kEach = 1400, kWhole = 20, kRest = 300;
  c.segment_by(kEach);
  const Bytes train = pattern(kWhole * kEach + kRest, 5);
  c.send(train, kTrimmable);
  REQUIRE(c.await(kWhole + 1));
  for (std::size_t i = 0; i <= kWhole; ++i) {
    const Bytes& got = c.arrived[i].payload;
    REQUIRE(got.size() == (i < kWhole ? kEach : kRest));
    REQUIRE(std::equal(got.begin(), got.end(), train.begin() + static_cast<std::ptrdiff_t>(i * kEach)));
    REQUIRE(c.arrived[i].traffic_class == (kTrimmable << 2 | kEct0));
  }
  REQUIRE(c.fabric.t0(0).counters().coalesced == 1);
  REQUIRE(c.fabric.t0(0).counters().sent >= kWhole + 1);
  return {};
}

/// MRC-FAB-013 on real interfaces: what is trimmed before the host reaches its socket, short and with its
/// class.
std::string trims_toward_the_host(Conversation& c) {
  c.send(pattern(10, 0), kTrimmable);  // neighbours are known after this
  REQUIRE(c.await(1));
  c.fabric.t0(1).fabric().port(0).set_rate(fabric::Rate::bits_per_second(20'000'000));
  constexpr int kCount = 40;
  for (int i = 0; i < kCount; ++i) c.send(pattern(2000, i), kTrimmable);
  REQUIRE(c.await(1 + kCount));
  int whole = 0, trimmed = 0;
  for (std::size_t i = 1; i < c.arrived.size(); ++i) {
    const Datagram& d = c.arrived[i];
    if (d.payload.size() == 2000) {
      ++whole;
      continue;
    }
    ++trimmed;
    REQUIRE(d.payload.size() == 256 - 14 - 40 - 40 - 8);
    REQUIRE(d.traffic_class >> 2 == kTrimmedLasthop);
    bool found = false;
    for (int s = 0; s < kCount; ++s) {
      const Bytes sent = pattern(2000, s);
      found |= std::equal(d.payload.begin(), d.payload.end(), sent.begin());
    }
    REQUIRE(found);
  }
  REQUIRE(whole >= 5);
  REQUIRE(trimmed >= 20);
  REQUIRE(c.fabric.t0(1).fabric().port(0).counters().trims == static_cast<unsigned>(trimmed));
  return {};
}

/// MRC-FAB-011 and MRC-FAB-010 on real interfaces: inside the fabric it marks, and control overtakes.
std::string marks_inside(Conversation& c) {
  c.send(pattern(10, 0), kTrimmable);
  REQUIRE(c.await(1));
  c.fabric.t1().fabric().port(1).set_rate(fabric::Rate::bits_per_second(50'000'000));
  for (int i = 0; i < 8; ++i) c.send(pattern(2000, i), kTrimmable);
  c.send(pattern(30, 99), kControl);
  REQUIRE(c.await(10));
  int marked = 0;
  std::size_t control_at = 0;
  for (std::size_t i = 1; i < c.arrived.size(); ++i) {
    marked += (c.arrived[i].traffic_class & 3) == kCe;
    if (c.arrived[i].payload.size() == 30) control_at = i;
    REQUIRE(c.arrived[i].payload.size() != 30 || (c.arrived[i].traffic_class & 3) != kCe);
  }
  REQUIRE(marked >= 2);
  REQUIRE(control_at >= 1 && control_at <= 3);
  return {};
}

std::string trims_inside(Conversation& c) {
  c.send(pattern(10, 0), kTrimmable);
  REQUIRE(c.await(1));
  c.fabric.t0(0).fabric().port(1).set_rate(fabric::Rate::bits_per_second(20'000'000));
  for (int i = 0; i < 30; ++i) c.send(pattern(2000, i), kTrimmable);
  REQUIRE(c.await(31));
  int trimmed = 0;
  for (const Datagram& d : c.arrived) trimmed += d.traffic_class >> 2 == kTrimmed;
  REQUIRE(trimmed >= 10);
  return {};
}

/// In a child process: namespaces are entered by a process, and leave with it.
void in_child(std::string (*story)(Conversation&), int small) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const pid_t child = fork();
  if (child == 0) {
    Conversation c;
    const auto refused = c.start(small);
    const std::string verdict = refused ? "skip: " + *refused : story(c);
    (void)!write(fds[1], verdict.data(), verdict.size());
    _exit(0);
  }
  close(fds[1]);
  std::string text(8192, '\0');
  std::size_t size = 0;
  for (ssize_t n; (n = read(fds[0], text.data() + size, text.size() - size)) > 0;)
    size += static_cast<std::size_t>(n);
  text.resize(size);
  close(fds[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "the story crashed";
  if (text.starts_with("skip: this machine forbids")) GTEST_SKIP() << text;
  EXPECT_EQ(text, "");
}

TEST(SwitchOnVeth, Delivers) { in_child(delivers, 0); }
TEST(SwitchOnVeth, DeliversTrains) { in_child(delivers_trains, -1); }
TEST(SwitchOnVeth, TrimsTowardTheHost) { in_child(trims_toward_the_host, 1); }
TEST(SwitchOnVeth, MarksInside) { in_child(marks_inside, 2); }
TEST(SwitchOnVeth, TrimsInside) { in_child(trims_inside, 0); }

}  // namespace
}  // namespace mrc::testing
