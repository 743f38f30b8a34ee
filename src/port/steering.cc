#include "port/steering.h"

namespace mrc::port {

std::array<sock_filter, 6> Steering::program() const {
  // MRC-PORT-001: a packet goes to the process that owns its QP.
  return {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),  // BTH: a reserved byte, then 24 bits of destination QP
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xFFFFFF),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstOrdinaryQpn.value, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, endpoint_index()),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, shift()),
      BPF_STMT(BPF_RET | BPF_A, 0),
  }};
}

}  // namespace mrc::port
