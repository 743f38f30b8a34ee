// Our uN against the kernel's: the same frames through both come out of the same port, byte for byte, or of
// none.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "fabric/bytes.h"
#include "kernel_switch.h"
#include "wire/codec.h"
#include "wire/ipv6.h"
#include "wire/testing.h"

namespace mrc::fabric {
namespace {

using testing::KernelSwitch;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t kOwn = 0x4000;
constexpr std::uint16_t kKnown[] = {0x8000, 0x8001, 0x8002, 0xE000};  // out of ports 1, 2, 1, 2
constexpr std::uint16_t kUnknown = 0x9999;
constexpr std::size_t kL2 = 14;

struct OurSwitch {
  LinkSettings link;
  ByteSettings bytes;
  Switch by_usid{{.usid = kOwn}, Table({{0x8000, 2, 1, 1}, {0x8002, 1, 1, 1}, {0xE000, 1, 1, 2}}), {}};
  Switch plain{{.forwarding = Forwarding::ecmp}, Table({{destination_key(3, 0), 2, 2, 1}}), {}};

  /// Where the frame goes, rewritten in place; nothing when it is dropped.
  std::optional<int> forward(Bytes& frame) {
    Frame f;
    const Routed r = route_bytes(by_usid, plain, frame, bytes, f);
    if (is_gone(r.route.fate)) return std::nullopt;
    frame.resize(write_frame(f, frame, bytes));
    return r.route.port;
  }
};

class FrameMaker {
 public:
  Bytes make() {
    wire::Route route{ip("fd4d:5243::1"), ip("fd4d:5243:0:3::2")};
    if (random_.below(8) != 0) route.usid_carrier = carrier();
    if (route.usid_carrier && random_.below(3) == 0) route.next_carrier = carrier();
    const auto opcode = wire::testing::kOpcodes[random_.below(std::size(wire::testing::kOpcodes))];
    wire::Packet packet = wire::testing::random_packet(opcode, random_);
    const bool write = std::holds_alternative<wire::Write>(packet.body);
    const Bytes payload = wire::testing::random_bytes(write ? random_.below(2048) : 0, random_);
    Bytes out(4096);
    out.resize(wire::emit_l2(packet, wire::testing::random_envelope(packet, false, random_), route, {}, {},
                             payload, {}, out));
    spoil(out);
    return out;
  }
  /// Goes straight to a port, 1 or 2: whatever was sent before has left there when this does.
  Bytes sentinel(int port) {
    wire::Route route{ip("fd4d:5243::1"), ip("fd4d:5243:0:3::2")};
    route.usid_carrier = ip(port == 1 ? "fcbb:bb00:4000:8000:ffff::" : "fcbb:bb00:4000:8001:ffff::");
    Bytes out(256);
    out.resize(wire::emit_l2(wire::testing::random_packet(wire::Opcode::sack, random_), {}, route, {}, {}, {},
                             {}, out));
    return out;
  }
  static bool is_sentinel(const Bytes& frame) {
    return frame.size() > kL2 + 40 && frame[kL2 + 30] == 0xFF && frame[kL2 + 31] == 0xFF;
  }

 private:
  static wire::IpAddress ip(const char* text) { return *wire::parse_ip(text); }

  wire::IpAddress carrier() {
    Ipv6 a = parse_ipv6_prefix(random_.below(16) == 0 ? "fcbb:bb01::/32" : "fcbb:bb00::/32")->address;
    const int count = static_cast<int>(random_.below(7));
    for (int i = 0; i < count; ++i) a.set_group(2 + i, usid(i));
    wire::IpAddress out;
    out.bytes = a.bytes;
    return out;
  }
  std::uint16_t usid(int position) {
    const std::uint32_t dice = random_.below(10);
    if (position == 0 && dice < 7) return kOwn;
    if (dice == 7) return kOwn;
    if (dice == 8) return 0;
    if (dice == 9) return kUnknown;
    return kKnown[random_.below(std::size(kKnown))];
  }
  /// Hop limits at the edge, and fields of a segment routing header that do not fit each other.
  void spoil(Bytes& frame) {
    if (random_.below(6) == 0) frame[kL2 + 7] = static_cast<std::uint8_t>(random_.below(3));
    if (frame[kL2 + 6] != wire::kNextRouting || random_.below(2) == 0) return;
    const std::size_t field = kL2 + 40 + 1 + random_.below(4);  // length, type, segments left, last entry
    frame[field] = static_cast<std::uint8_t>(random_.below(4));
  }

  Prng random_{2026};
};

std::string hex(const Bytes& b) {
  std::string out;
  for (const std::uint8_t byte : b) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    out += text;
  }
  return out;
}

/// Sends one frame through the kernel; what came out, if anything, before both sentinels had.
std::optional<KernelSwitch::Received> through_kernel(KernelSwitch& kernel, FrameMaker& maker,
                                                     const Bytes& frame, std::string& problem) {
  kernel.send(0, frame);
  for (const int port : {1, 2}) kernel.send(0, maker.sentinel(port));
  std::optional<KernelSwitch::Received> came;
  for (int sentinels = 0; sentinels < 2;) {
    auto r = kernel.receive();
    if (!r) {
      problem = "a sentinel was lost";
      return came;
    }
    if (r->port == 0 || r->frame[0] == 0x33) continue;  // an ICMP error back to the sender, or MLD
    if (FrameMaker::is_sentinel(r->frame)) {
      ++sentinels;
    } else {
      came = std::move(r);
    }
  }
  return came;
}

/// Runs in a child process that lives in its own namespace. Empty: all agreed.
std::string compare_all(int count, int& forwarded) {
  KernelSwitch kernel;
  if (auto refused =
          kernel.start("fcbb:bb00:4000::/48",
                       {"fcbb:bb00:8000::/48 port1", "fcbb:bb00:8001::/48 port2", "fcbb:bb00:8002::/48 port1",
                        "fcbb:bb00:e000::/48 port2", "fd4d:5243:0:3::/64 port1"})) {
    return "skip: " + *refused;
  }
  OurSwitch ours;
  FrameMaker maker;
  for (int i = 0; i < count; ++i) {
    const Bytes frame = maker.make();
    Bytes mine = frame;
    const auto my_port = ours.forward(mine);
    std::string problem;
    const auto theirs = through_kernel(kernel, maker, frame, problem);
    if (!problem.empty()) return problem;
    const std::string context = "frame " + std::to_string(i) + ": " + hex(frame);
    if (my_port.has_value() != theirs.has_value())
      return context +
             (theirs ? "\nthe kernel forwarded it, we did not" : "\nwe forwarded it, the kernel did not");
    if (!theirs) continue;
    ++forwarded;
    if (*my_port != theirs->port) return context + "\nports differ";
    if (!std::equal(mine.begin() + kL2, mine.end(), theirs->frame.begin() + kL2, theirs->frame.end()))
      return context + "\nours:   " + hex(mine) + "\ntheirs: " + hex(theirs->frame);
  }
  return {};
}

// MRC-FAB-017: the same frames give the same frames.
TEST(SwitchConformance, TheKernelAgrees) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  constexpr int kFrames = 2000;
  const pid_t child = fork();
  if (child == 0) {
    int forwarded = 0;
    std::string verdict = compare_all(kFrames, forwarded);
    verdict += "\n" + std::to_string(forwarded);
    (void)!write(fds[1], verdict.data(), verdict.size());
    _exit(0);
  }
  close(fds[1]);
  std::string text(1 << 16, '\0');
  std::size_t size = 0;
  for (ssize_t n; (n = read(fds[0], text.data() + size, text.size() - size)) > 0;)
    size += static_cast<std::size_t>(n);
  text.resize(size);
  close(fds[0]);
  waitpid(child, nullptr, 0);
  if (text.starts_with("skip: this machine forbids")) GTEST_SKIP() << text;
  const auto last_line = text.rfind('\n');
  ASSERT_NE(last_line, std::string::npos);
  EXPECT_EQ(text.substr(0, last_line), "");
  EXPECT_GT(std::stoi(text.substr(last_line + 1)), kFrames / 10)
      << "enough frames must get through to compare them";
}

}  // namespace
}  // namespace mrc::fabric
