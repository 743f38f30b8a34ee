#include "port/bpf.h"

#include <linux/if_link.h>
#include <sys/syscall.h>

#include <cstring>

namespace mrc::port {
namespace {

constexpr std::uint32_t kXdpHasFrags = 1u << 5;  // BPF_F_XDP_HAS_FRAGS: frames may be longer than a page

long call_bpf(bpf_cmd command, bpf_attr& attributes) {
  return ::syscall(SYS_bpf, command, &attributes, sizeof attributes);
}

std::uint64_t pointer(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

Error bpf_error(const std::string& doing) {
  Error error = errno_error(doing);
  if (error.code == EPERM)
    error.what += " (needs CAP_BPF and CAP_NET_ADMIN on the host, not in a user namespace)";
  return error;
}

int size_code(int bytes) { return bytes == 1 ? BPF_B : bytes == 2 ? BPF_H : bytes == 4 ? BPF_W : BPF_DW; }

}  // namespace

void BpfAssembler::emit(std::uint8_t code, Register to, Register from, std::int16_t offset,
                        std::int32_t value) {
  bpf_insn i{};
  i.code = code;
  i.dst_reg = static_cast<std::uint8_t>(to) & 0xF;
  i.src_reg = static_cast<std::uint8_t>(from) & 0xF;
  i.off = offset;
  i.imm = value;
  code_.push_back(i);
}

BpfAssembler::Label BpfAssembler::make_label() {
  labels_.push_back(0);
  return Label{labels_.size() - 1};
}
void BpfAssembler::place(Label label) { labels_[static_cast<std::size_t>(label)] = code_.size(); }

void BpfAssembler::load_absolute(int bytes, std::int32_t offset) {
  emit(static_cast<std::uint8_t>(BPF_LD | BPF_ABS | size_code(bytes)), Register::r0, Register::r0, 0, offset);
}
void BpfAssembler::load(int bytes, Register to, Register base, std::int16_t offset) {
  emit(static_cast<std::uint8_t>(BPF_LDX | BPF_MEM | size_code(bytes)), to, base, offset, 0);
}
void BpfAssembler::store(int bytes, Register base, std::int16_t offset, Register from) {
  emit(static_cast<std::uint8_t>(BPF_STX | BPF_MEM | size_code(bytes)), base, from, offset, 0);
}
void BpfAssembler::move(Register to, Register from) { emit(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0); }
void BpfAssembler::move(Register to, std::int32_t value) {
  emit(BPF_ALU64 | BPF_MOV | BPF_K, to, Register::r0, 0, value);
}
void BpfAssembler::add(Register to, std::int32_t value) {
  emit(BPF_ALU64 | BPF_ADD | BPF_K, to, Register::r0, 0, value);
}
void BpfAssembler::add(Register to, Register from) { emit(BPF_ALU64 | BPF_ADD | BPF_X, to, from, 0, 0); }
void BpfAssembler::subtract(Register to, Register from) { emit(BPF_ALU64 | BPF_SUB | BPF_X, to, from, 0, 0); }
void BpfAssembler::shift_left(Register to, std::int32_t bits) {
  emit(BPF_ALU64 | BPF_LSH | BPF_K, to, Register::r0, 0, bits);
}
void BpfAssembler::shift_right(Register to, std::int32_t bits) {
  emit(BPF_ALU64 | BPF_RSH | BPF_K, to, Register::r0, 0, bits);
}
void BpfAssembler::bit_and(Register to, std::int32_t value) {
  emit(BPF_ALU64 | BPF_AND | BPF_K, to, Register::r0, 0, value);
}
/// A 64-bit constant takes two instructions; this one the kernel replaces by the map's address.
void BpfAssembler::load_map(Register to, int map_fd) {
  emit(BPF_LD | BPF_DW | BPF_IMM, to, Register{BPF_PSEUDO_MAP_FD}, 0, map_fd);
  emit(0, Register::r0, Register::r0, 0, 0);
}
void BpfAssembler::load_map_value(Register to, int map_fd) {
  emit(BPF_LD | BPF_DW | BPF_IMM, to, Register{BPF_PSEUDO_MAP_VALUE}, 0, map_fd);
  emit(0, Register::r0, Register::r0, 0, 0);
}
void BpfAssembler::add_to_memory(Register address, Register value) {
  emit(BPF_STX | BPF_DW | BPF_ATOMIC, address, value, 0, BPF_ADD);
}
void BpfAssembler::compare_exchange(Register base, std::int16_t offset, Register to) {
  emit(BPF_STX | BPF_DW | BPF_ATOMIC, base, to, offset, BPF_CMPXCHG);
}
void BpfAssembler::exchange(Register base, std::int16_t offset, Register value) {
  emit(BPF_STX | BPF_DW | BPF_ATOMIC, base, value, offset, BPF_XCHG);
}
void BpfAssembler::call(std::int32_t helper) {
  emit(BPF_JMP | BPF_CALL, Register::r0, Register::r0, 0, helper);
}
void BpfAssembler::exit() { emit(BPF_JMP | BPF_EXIT, Register::r0, Register::r0, 0, 0); }

void BpfAssembler::jump(std::uint8_t code, Register a, Register b, std::int32_t value, Label label) {
  jumps_.push_back({code_.size(), static_cast<std::size_t>(label)});
  emit(code, a, b, 0, value);
}
void BpfAssembler::jump(Label label) { jump(BPF_JMP | BPF_JA, Register::r0, Register::r0, 0, label); }
void BpfAssembler::jump_if_equal(Register a, std::int32_t value, Label label) {
  jump(BPF_JMP32 | BPF_JEQ | BPF_K, a, Register::r0, value, label);
}
void BpfAssembler::jump_if_not_equal(Register a, std::int32_t value, Label label) {
  jump(BPF_JMP32 | BPF_JNE | BPF_K, a, Register::r0, value, label);
}
void BpfAssembler::jump_if_not_equal(Register a, Register b, Label label) {
  jump(BPF_JMP | BPF_JNE | BPF_X, a, b, 0, label);
}
void BpfAssembler::jump_if_greater(Register a, Register b, Label label) {
  jump(BPF_JMP | BPF_JGT | BPF_X, a, b, 0, label);
}
void BpfAssembler::jump_if_greater(Register a, std::int32_t value, Label label) {
  jump(BPF_JMP | BPF_JGT | BPF_K, a, Register::r0, value, label);
}
void BpfAssembler::jump_if_less(Register a, std::int32_t value, Label label) {
  jump(BPF_JMP | BPF_JLT | BPF_K, a, Register::r0, value, label);
}

std::vector<bpf_insn> BpfAssembler::finish() {
  for (const Jump& j : jumps_)
    code_[j.at].off = static_cast<std::int16_t>(static_cast<std::ptrdiff_t>(labels_[j.label]) -
                                                static_cast<std::ptrdiff_t>(j.at) - 1);
  return code_;
}

Result<Fd> make_socket_map(std::uint32_t entries) {
  bpf_attr a{};
  a.map_type = BPF_MAP_TYPE_XSKMAP;
  a.key_size = 4;
  a.value_size = 4;
  a.max_entries = entries;
  Fd map(static_cast<int>(call_bpf(BPF_MAP_CREATE, a)));
  if (!map) return bpf_error("make a map of AF_XDP sockets");
  return map;
}

Result<Fd> make_shared_memory(std::size_t bytes) {
  bpf_attr a{};
  a.map_type = BPF_MAP_TYPE_ARRAY;
  a.key_size = 4;
  a.value_size = static_cast<std::uint32_t>(bytes);
  a.max_entries = 1;
  a.map_flags = BPF_F_MMAPABLE;
  Fd map(static_cast<int>(call_bpf(BPF_MAP_CREATE, a)));
  if (!map) return bpf_error("make memory that a program and a process share");
  return map;
}

Status put_socket(int map_fd, std::uint32_t queue, int socket_fd) {
  bpf_attr a{};
  a.map_fd = static_cast<std::uint32_t>(map_fd);
  a.key = pointer(&queue);
  a.value = pointer(&socket_fd);
  if (call_bpf(BPF_MAP_UPDATE_ELEM, a) < 0)
    return bpf_error("steer queue " + std::to_string(queue) + " to a socket");
  return Done{};
}

namespace {

Result<Fd> load_program(bpf_prog_type type, std::uint32_t flags, const std::vector<bpf_insn>& code) {
  static const char kLicense[] = "Dual MIT/GPL";
  std::vector<char> log(16384);
  bpf_attr a{};
  a.prog_type = type;
  a.insns = pointer(code.data());
  a.insn_cnt = static_cast<std::uint32_t>(code.size());
  a.license = pointer(kLicense);
  a.prog_flags = flags;
  a.log_buf = pointer(log.data());
  a.log_size = static_cast<std::uint32_t>(log.size());
  a.log_level = 1;
  Fd program(static_cast<int>(call_bpf(BPF_PROG_LOAD, a)));
  if (program) return program;
  Error error = bpf_error("load a BPF program");
  if (log[0] != 0) error.what += std::string(": ") + log.data();
  return error;
}

}  // namespace

Result<Fd> load_xdp_program(const std::vector<bpf_insn>& code) {
  return load_program(BPF_PROG_TYPE_XDP, kXdpHasFrags, code);
}
Result<Fd> load_socket_filter(const std::vector<bpf_insn>& code) {
  return load_program(BPF_PROG_TYPE_SOCKET_FILTER, 0, code);
}
Result<Fd> load_ingress_program(const std::vector<bpf_insn>& code) {
  return load_program(BPF_PROG_TYPE_SCHED_CLS, 0, code);
}

Result<Fd> link_ingress_program(int program_fd, std::uint32_t interface) {
  constexpr std::uint32_t kTcxIngress = 46;  // BPF_TCX_INGRESS
  bpf_attr a{};
  a.link_create.prog_fd = static_cast<std::uint32_t>(program_fd);
  a.link_create.target_ifindex = interface;
  a.link_create.attach_type = kTcxIngress;
  Fd link(static_cast<int>(call_bpf(BPF_LINK_CREATE, a)));
  if (!link) return bpf_error("attach a program to what comes in by interface " + std::to_string(interface));
  return link;
}

Result<Fd> link_xdp_program(int program_fd, std::uint32_t interface, XdpMode mode) {
  bpf_attr a{};
  a.link_create.prog_fd = static_cast<std::uint32_t>(program_fd);
  a.link_create.target_ifindex = interface;
  a.link_create.attach_type = BPF_XDP;
  a.link_create.flags = mode == XdpMode::driver ? XDP_FLAGS_DRV_MODE : XDP_FLAGS_SKB_MODE;
  Fd link(static_cast<int>(call_bpf(BPF_LINK_CREATE, a)));
  if (!link) return bpf_error("attach the XDP program to interface " + std::to_string(interface));
  return link;
}

}  // namespace mrc::port
