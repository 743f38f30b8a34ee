#include "port/doorbell.h"

#include <sys/mman.h>
#include <sys/socket.h>

#include "port/bpf.h"

namespace mrc::port {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::int32_t kKeepWhole = 0x7FFFFFFF;  // a filter answers how much of the packet may stay

std::vector<bpf_insn> count_and_keep(int map_fd) {
  BpfAssembler as;
  as.load_map_value(Register::r1, map_fd);
  as.move(Register::r2, 1);
  as.add_to_memory(Register::r1, Register::r2);
  as.move(Register::r0, kKeepWhole);
  as.exit();
  return as.finish();
}

}  // namespace

void Doorbell::Unmap::operator()(std::atomic<std::uint64_t>* page) const { ::munmap(page, kPage); }

Result<Doorbell> Doorbell::hang(int socket) {
  const auto map = make_shared_page();
  if (!map) return map.error();
  const auto program = load_socket_filter(count_and_keep(map->get()));
  if (!program) return program.error();
  void* page = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, map->get(), 0);
  if (page == MAP_FAILED) return errno_error("map the page of a doorbell");
  Doorbell bell(static_cast<std::atomic<std::uint64_t>*>(page));
  const int fd = program->get();
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof fd) < 0)
    return errno_error("attach a doorbell to a socket");
  return bell;
}

}  // namespace mrc::port
