#include "port/frame_filter.h"

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"

namespace mrc::port {
namespace {

constexpr std::uint32_t kIp = wire::Ethernet::kSize;
constexpr std::uint32_t kInner = kIp + wire::Ipv6::kSize;

}  // namespace

std::array<sock_filter, 20> udp_frame_filter(std::uint16_t udp_port) {
  // Jumps count instructions to skip; the last two are "no" (18) and "yes" (19).
  return {{
      /* 0*/ BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 12),
      /* 1*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kEtherIpv6, 6, 0),
      /* 2*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kEtherIpv4, 0, 15),
      /* 3*/ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kIp + 9),
      /* 4*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kProtocolUdp, 0, 13),
      /* 5*/ BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, kIp),
      /* 6*/ BPF_STMT(BPF_LD | BPF_H | BPF_IND, kIp + 2),
      /* 7*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, udp_port, 11, 10),
      /* 8*/ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kIp + 6),
      /* 9*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kNextRouting, 9, 0),
      /*10*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kNextIpv6, 3, 0),
      /*11*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kNextUdp, 0, 6),
      /*12*/ BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kIp + wire::Ipv6::kSize + 2),
      /*13*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, udp_port, 5, 4),
      /*14*/ BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kInner + 6),
      /*15*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wire::kNextUdp, 0, 2),
      /*16*/ BPF_STMT(BPF_LD | BPF_H | BPF_ABS, kInner + wire::Ipv6::kSize + 2),
      /*17*/ BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, udp_port, 1, 0),
      /*18*/ BPF_STMT(BPF_RET | BPF_K, 0),
      /*19*/ BPF_STMT(BPF_RET | BPF_K, 0xFFFFFFFF),
  }};
}

}  // namespace mrc::port
