#include "port/xdp_steering.h"

#include <arpa/inet.h>

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace mrc::port {
namespace {

constexpr std::int16_t kIp = wire::Ethernet::kSize;
constexpr std::int16_t kIp6 = wire::Ipv6::kSize;
constexpr std::int16_t kInner = kIp + kIp6;
constexpr int kRedirectMap = 51;  // BPF_FUNC_redirect_map
constexpr int kPass = 2;          // XDP_PASS

// Fields of struct xdp_md.
constexpr std::int16_t kData = 0, kDataEnd = 4, kQueue = 16;

}  // namespace

std::vector<bpf_insn> steer_udp_port(std::uint16_t udp_port, int socket_map_fd) {
  constexpr auto context = Register::r6, data = Register::r2, end = Register::r3, reach = Register::r4,
                 field = Register::r5;
  BpfAssembler as;
  const auto v4 = as.make_label(), plain_v6 = as.make_label(), compare = as.make_label(),
             pass = as.make_label();
  const auto need = [&](std::int32_t bytes) {
    as.move(reach, data);
    as.add(reach, bytes);
    as.jump_if_greater(reach, end, pass);
  };
  as.move(context, Register::r1);
  as.load(4, data, Register::r1, kData);
  as.load(4, end, Register::r1, kDataEnd);
  need(kInner + 4);  // also enough for IPv4 and UDP: an MRC packet is never shorter
  as.load(2, field, data, 12);
  as.jump_if_equal(field, htons(wire::kEtherIpv4), v4);
  as.jump_if_not_equal(field, htons(wire::kEtherIpv6), pass);
  as.load(1, field, data, kIp + 6);
  as.jump_if_equal(field, wire::kNextUdp, plain_v6);
  as.jump_if_not_equal(field, wire::kNextIpv6, pass);
  need(kInner + kIp6 + 4);
  as.load(1, field, data, kInner + 6);
  as.jump_if_not_equal(field, wire::kNextUdp, pass);
  as.load(2, field, data, kInner + kIp6 + 2);
  as.jump(compare);

  as.place(plain_v6);
  as.load(2, field, data, kInner + 2);
  as.jump(compare);

  as.place(v4);
  as.load(1, field, data, kIp);
  as.jump_if_not_equal(field, 0x45, pass);
  as.load(1, field, data, kIp + 9);
  as.jump_if_not_equal(field, wire::kProtocolUdp, pass);
  as.load(2, field, data, kIp + 6);
  as.bit_and(field, htons(0x3FFF));  // a fragment
  as.jump_if_not_equal(field, 0, pass);
  as.load(2, field, data, kIp + wire::Ipv4::kSize + 2);

  as.place(compare);
  as.jump_if_not_equal(field, htons(udp_port), pass);
  as.load(4, Register::r2, context, kQueue);
  as.load_map(Register::r1, socket_map_fd);
  as.move(Register::r3, kPass);  // no socket at that queue: the kernel may have it
  as.call(kRedirectMap);
  as.exit();

  as.place(pass);
  as.move(Register::r0, kPass);
  as.exit();
  return as.finish();
}

}  // namespace mrc::port
