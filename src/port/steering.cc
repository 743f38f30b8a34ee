#include "port/steering.h"

namespace mrc::port {

std::array<sock_filter, 11> Steering::program() const {
  // MRC-PORT-001: a packet goes to the process that owns its QP.
  return {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4),  // BTH: a reserved byte, then 24 bits of destination QP
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xFFFFFF),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kFirstOrdinaryQpn.value, 6, 0),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0),  // BTH: opcode
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, std::to_integer<std::uint32_t>(kEndpointResponse), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, endpoint_index()),
      // MRC-NODE-006: the answer to an endpoint request goes to the process that asked.
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 10),  // BTH: the low 16 bits of the PSN hold the request's id
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, id_shift()),
      BPF_STMT(BPF_RET | BPF_A, 0),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, shift()),
      BPF_STMT(BPF_RET | BPF_A, 0),
  }};
}

}  // namespace mrc::port
