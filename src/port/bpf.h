// The little of bpf(2) that we need: an assembler with labels, a map of sockets, loading, and a link to
// an interface that the kernel undoes by itself when our descriptor goes, however we end.
#pragma once

#include <linux/bpf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "port/fd.h"

namespace mrc::port {

enum class Register : std::uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, r10 };

class BpfAssembler {
 public:
  enum class Label : std::size_t {};

  Label make_label();
  void place(Label label);

  /// From the packet into r0, in host order; r6 must hold the context. Packets too short for it end the
  /// program with 0.
  void load_absolute(int bytes, std::int32_t offset);
  void load(int bytes, Register to, Register base, std::int16_t offset);
  void store(int bytes, Register base, std::int16_t offset, Register from);
  void move(Register to, Register from);
  void move(Register to, std::int32_t value);
  void add(Register to, std::int32_t value);
  void add(Register to, Register from);
  void subtract(Register to, Register from);
  void bit_and(Register to, std::int32_t value);
  void shift_left(Register to, std::int32_t bits);
  void shift_right(Register to, std::int32_t bits);
  void load_map(Register to, int map_fd);
  /// The address of the map's first value.
  void load_map_value(Register to, int map_fd);
  /// *(u64*)address += value, atomically.
  void add_to_memory(Register address, Register value);
  /// All 64 bits, atomically: if they are r0, they become `to`; r0 is what they were.
  void compare_exchange(Register base, std::int16_t offset, Register to);
  /// All 64 bits, atomically; whoever sees them sees everything that was stored before. `value` is lost.
  void exchange(Register base, std::int16_t offset, Register value);
  void call(std::int32_t helper);
  void exit();
  void jump(Label label);
  void jump_if_equal(Register a, std::int32_t value, Label label);
  void jump_if_not_equal(Register a, std::int32_t value, Label label);
  void jump_if_not_equal(Register a, Register b, Label label);
  void jump_if_greater(Register a, Register b, Label label);
  void jump_if_greater(Register a, std::int32_t value, Label label);
  void jump_if_less(Register a, std::int32_t value, Label label);

  /// All jumps resolved.
  std::vector<bpf_insn> finish();

 private:
  struct Jump {
    std::size_t at;
    std::size_t label;
  };
  void emit(std::uint8_t code, Register to, Register from, std::int16_t offset, std::int32_t value);
  void jump(std::uint8_t code, Register a, Register b, std::int32_t value, Label label);

  std::vector<bpf_insn> code_;
  std::vector<std::size_t> labels_;
  std::vector<Jump> jumps_;
};

/// A map from queue numbers to AF_XDP sockets.
Result<Fd> make_socket_map(std::uint32_t entries);
Status put_socket(int map_fd, std::uint32_t queue, int socket_fd);
Result<Fd> load_xdp_program(const std::vector<bpf_insn>& code);
/// A map of one value that can be mapped into a process.
Result<Fd> make_shared_memory(std::size_t bytes);
Result<Fd> load_socket_filter(const std::vector<bpf_insn>& code);

/// For traffic that comes in by an interface, after packet sockets have seen it (tcx, Linux 6.6).
Result<Fd> load_ingress_program(const std::vector<bpf_insn>& code);
Result<Fd> link_ingress_program(int program_fd, std::uint32_t interface);

enum class XdpMode : std::uint8_t { driver, generic };
/// EBUSY when the interface has a program already.
Result<Fd> link_xdp_program(int program_fd, std::uint32_t interface, XdpMode mode);

}  // namespace mrc::port
