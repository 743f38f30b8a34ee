#include "port/doorway.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <bit>

#include "port/bpf.h"

namespace mrc::port {
namespace {

using Memory = DoorwayMemory;
using Letter = Memory::Letter;
using Fill = Memory::Fill;

constexpr std::int32_t kKeepWhole = 0x7FFFFFFF;  // a filter answers how much of the message may stay,
constexpr std::int32_t kTaken = 0;               // and the socket never sees this one
constexpr std::int32_t kUdpHeader = 8, kIpv4Header = 20, kIpv6Header = sizeof(Letter::ip);
constexpr std::int16_t kRings = offsetof(Memory, rings);
static_assert(kRings == 0 && std::endian::native == std::endian::little);  // its low half comes first
constexpr unsigned kNumberBits = 64 - Fill::kByteBits;

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
    as_.move(Register::r1, 1);
    as_.store(4, Register::r8, offsetof(Letter, queued), Register::r1);
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
  /// Afterwards r7 is the message's size, r8 its letter, r9 the Fill before it.
  void claim() {
    as_.load(4, Register::r7, Register::r6, offsetof(__sk_buff, len));
    as_.jump_if_greater(Register::r7, static_cast<std::int32_t>(Memory::kLongest), queue_);
    as_.jump_if_less(Register::r7, kUdpHeader, queue_);
    as_.load_map_value(Register::r8, map_);
    want_attention(Register::r8, queue_);
    as_.load(8, Register::r0, Register::r8, offsetof(Memory, claimed));
    as_.move(Register::r9, Register::r0);
    want_room();
    advance();
    as_.compare_exchange(Register::r8, offsetof(Memory, claimed), Register::r2);
    as_.jump_if_not_equal(Register::r0, Register::r9, queue_);  // another core was faster: rare enough
    as_.move(Register::r1, Register::r9);
    as_.shift_right(Register::r1, Fill::kByteBits);
    as_.bit_and(Register::r1, Memory::kLetters - 1);
    as_.shift_left(Register::r1, std::countr_zero(sizeof(Letter)));
    as_.add(Register::r8, Register::r1);
    as_.add(Register::r8, offsetof(Memory, letters));
    as_.store(2, Register::r8, offsetof(Letter, size), Register::r7);
    // Whoever looks away now sees our claim, and waits for the message; or we see that nobody looks.
    as_.load_map_value(Register::r1, map_);
    want_attention(Register::r1, give_up_);
  }

  void want_attention(Register memory, BpfAssembler::Label otherwise) {
    as_.load(4, Register::r1, memory, offsetof(Memory, attended));
    as_.jump_if_equal(Register::r1, 0, otherwise);
  }

  /// r4 becomes the bytes that the message takes.
  void want_room() {
    as_.load(8, Register::r1, Register::r8, offsetof(Memory, given_back));
    as_.move(Register::r2, Register::r0);
    as_.shift_right(Register::r2, Fill::kByteBits);
    as_.move(Register::r3, Register::r1);
    as_.shift_right(Register::r3, Fill::kByteBits);
    as_.subtract(Register::r2, Register::r3);
    as_.shift_left(Register::r2, Fill::kByteBits);
    as_.shift_right(Register::r2, Fill::kByteBits);
    as_.jump_if_greater(Register::r2, Memory::kLetters - 1, queue_);
    as_.move(Register::r4, Register::r7);
    as_.add(Register::r4, Memory::kGrain - 1);
    as_.bit_and(Register::r4, -static_cast<std::int32_t>(Memory::kGrain));
    as_.move(Register::r3, Register::r0);
    as_.subtract(Register::r3, Register::r1);
    keep_bytes(Register::r3);
    as_.add(Register::r3, Register::r4);
    as_.jump_if_greater(Register::r3, static_cast<std::int32_t>(Memory::kBytes), queue_);
  }

  /// r2 becomes the Fill behind the message.
  void advance() {
    as_.add(Register::r4, Register::r0);
    keep_bytes(Register::r4);
    as_.move(Register::r2, Register::r0);
    as_.shift_right(Register::r2, Fill::kByteBits);
    as_.add(Register::r2, 1);
    as_.shift_left(Register::r2, Fill::kByteBits);
    as_.add(Register::r2, Register::r4);
  }

  void keep_bytes(Register fill) {
    as_.shift_left(fill, kNumberBits);
    as_.shift_right(fill, kNumberBits);
  }

  void fill() {
    as_.load_map_value(Register::r1, map_);
    as_.load(4, Register::r1, Register::r1, kRings);
    as_.store(4, Register::r8, offsetof(Letter, after), Register::r1);
    as_.move(Register::r1, 0);
    as_.store(4, Register::r8, offsetof(Letter, queued), Register::r1);
    copy_field(offsetof(__sk_buff, gso_size), 2, offsetof(Letter, packet_bytes));
    copy_field(offsetof(__sk_buff, ifindex), 4, offsetof(Letter, interface));
    as_.move(Register::r3, Register::r8);
    as_.add(Register::r3, offsetof(Letter, ip));
    ip_header_size();
    as_.move(Register::r5, BPF_HDR_START_NET);
    load_bytes(BPF_FUNC_skb_load_bytes_relative);
    as_.load_map_value(Register::r3, map_);
    as_.move(Register::r1, Register::r9);
    as_.bit_and(Register::r1, Memory::kBytes - 1);
    as_.add(Register::r3, Register::r1);
    as_.add(Register::r3, offsetof(Memory, bytes));
    as_.move(Register::r4, Register::r7);
    load_bytes(BPF_FUNC_skb_load_bytes);
  }

  /// r4 becomes it. More than the headers may not be at hand: a train's packets lie elsewhere.
  void ip_header_size() {
    const auto known = as_.make_label();
    as_.move(Register::r4, kIpv6Header);
    as_.load(4, Register::r1, Register::r6, offsetof(__sk_buff, protocol));
    as_.jump_if_not_equal(Register::r1, htons(ETH_P_IP), known);
    as_.move(Register::r4, kIpv4Header);
    as_.place(known);
  }

  void copy_field(std::int16_t from, int bytes, std::int16_t to) {
    as_.load(4, Register::r1, Register::r6, from);
    as_.store(bytes, Register::r8, to, Register::r1);
  }

  /// From the message's beginning to r3, r4 bytes.
  void load_bytes(std::int32_t helper) {
    as_.move(Register::r1, Register::r6);
    as_.move(Register::r2, 0);
    as_.call(helper);
    as_.jump_if_not_equal(Register::r0, 0, give_up_);
  }

  void publish() {
    as_.shift_right(Register::r9, Fill::kByteBits);
    as_.add(Register::r9, 1);
    as_.exchange(Register::r8, offsetof(Letter, ready), Register::r9);
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
  SharedDoorway memory(static_cast<Memory*>(at), [](Memory* gone) {
    gone->attended = 0;  // the socket may outlive us
    ::munmap(gone, sizeof(Memory));
  });
  const int fd = program->get();
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof fd) < 0)
    return errno_error("attach a doorway to a socket");
  return memory;
}

}  // namespace mrc::port
