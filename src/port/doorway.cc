#include "port/doorway.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include <bit>

#include "port/bpf.h"

namespace mrc::port {
namespace {

using Memory = DoorwayMemory;
using Slot = Memory::Slot;

constexpr std::int32_t kKeepWhole = 0x7FFFFFFF;  // a filter answers how much of the message may stay,
constexpr std::int32_t kTaken = 0;               // and the socket never sees this one
constexpr std::int32_t kUdpHeader = 8;
constexpr std::int16_t kRings = offsetof(Memory, rings);
static_assert(kRings == 0 && std::endian::native == std::endian::little);  // its low half comes first

/// At a UDP socket a message begins with its UDP header.
class DoorwayProgram {
 public:
  explicit DoorwayProgram(int map) : map_(map) {}

  std::vector<bpf_insn> make() {
    as_.move(Register::r6, Register::r1);
    claim();
    fill();
    publish();
    as_.move(Register::r0, kTaken);
    as_.exit();
    as_.place(give_up_);
    as_.move(Register::r1, 0);
    as_.store(4, Register::r8, offsetof(Slot, size), Register::r1);
    publish();
    as_.place(queue_);
    as_.load_map_value(Register::r1, map_);
    as_.move(Register::r2, 1);
    as_.add_to_memory(Register::r1, Register::r2);
    as_.move(Register::r0, kKeepWhole);
    as_.exit();
    return as_.finish();
  }

 private:
  /// Afterwards r7 is the message's size, r8 its slot, r9 its number.
  void claim() {
    as_.load(4, Register::r7, Register::r6, offsetof(__sk_buff, len));
    as_.jump_if_greater(Register::r7, static_cast<std::int32_t>(sizeof(Slot::udp)), queue_);
    as_.jump_if_less(Register::r7, kUdpHeader, queue_);
    as_.load_map_value(Register::r8, map_);
    want_attention(Register::r8, queue_);
    as_.load(8, Register::r0, Register::r8, offsetof(Memory, claimed));
    as_.load(8, Register::r1, Register::r8, offsetof(Memory, given_back));
    as_.move(Register::r9, Register::r0);
    as_.move(Register::r2, Register::r0);
    as_.subtract(Register::r2, Register::r1);
    as_.jump_if_greater(Register::r2, Memory::kSlots - 1, queue_);
    as_.move(Register::r2, Register::r0);
    as_.add(Register::r2, 1);
    as_.compare_exchange(Register::r8, offsetof(Memory, claimed), Register::r2);
    as_.jump_if_not_equal(Register::r0, Register::r9, queue_);  // another core was faster: rare enough
    as_.move(Register::r1, Register::r9);
    as_.bit_and(Register::r1, Memory::kSlots - 1);
    as_.shift_left(Register::r1, std::countr_zero(Memory::kSlotBytes));
    as_.add(Register::r8, Register::r1);
    as_.add(Register::r8, offsetof(Memory, slots));
    // Whoever looks away now sees our claim, and waits for the message; or we see that nobody looks.
    as_.load_map_value(Register::r1, map_);
    want_attention(Register::r1, give_up_);
  }

  void want_attention(Register memory, BpfAssembler::Label otherwise) {
    as_.load(4, Register::r1, memory, offsetof(Memory, attended));
    as_.jump_if_equal(Register::r1, 0, otherwise);
  }

  void fill() {
    as_.load_map_value(Register::r1, map_);
    as_.load(4, Register::r1, Register::r1, kRings);
    as_.store(4, Register::r8, offsetof(Slot, after), Register::r1);
    as_.store(4, Register::r8, offsetof(Slot, size), Register::r7);
    copy_field(offsetof(__sk_buff, gso_size), offsetof(Slot, packet_bytes));
    copy_field(offsetof(__sk_buff, ifindex), offsetof(Slot, interface));
    point_at(offsetof(Slot, ip));
    as_.move(Register::r4, Memory::kIpBytes);
    as_.move(Register::r5, BPF_HDR_START_NET);
    as_.call(BPF_FUNC_skb_load_bytes_relative);
    as_.jump_if_not_equal(Register::r0, 0, give_up_);
    point_at(offsetof(Slot, udp));
    as_.move(Register::r4, Register::r7);
    as_.call(BPF_FUNC_skb_load_bytes);
    as_.jump_if_not_equal(Register::r0, 0, give_up_);
  }

  void copy_field(std::int16_t from, std::int16_t to) {
    as_.load(4, Register::r1, Register::r6, from);
    as_.store(4, Register::r8, to, Register::r1);
  }

  /// The first three arguments of both helpers: from the message's beginning, to this place in the slot.
  void point_at(std::int32_t where) {
    as_.move(Register::r1, Register::r6);
    as_.move(Register::r2, 0);
    as_.move(Register::r3, Register::r8);
    as_.add(Register::r3, where);
  }

  void publish() {
    as_.add(Register::r9, 1);
    as_.exchange(Register::r8, offsetof(Slot, ready), Register::r9);
  }

  int map_;
  BpfAssembler as_;
  BpfAssembler::Label queue_ = as_.make_label(), give_up_ = as_.make_label();
};

}  // namespace

Result<SharedDoorway> build_doorway(int socket) {
  const auto map = make_shared_memory(sizeof(Memory));
  if (!map) return map.error();
  const auto program = load_socket_filter(DoorwayProgram(map->get()).make());
  if (!program) return program.error();
  void* at = ::mmap(nullptr, sizeof(Memory), PROT_READ | PROT_WRITE, MAP_SHARED, map->get(), 0);
  if (at == MAP_FAILED) return errno_error("map the memory of a doorway");
  SharedDoorway memory(static_cast<Memory*>(at), [](Memory* gone) { ::munmap(gone, sizeof(Memory)); });
  const int fd = program->get();
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof fd) < 0)
    return errno_error("attach a doorway to a socket");
  return memory;
}

}  // namespace mrc::port
