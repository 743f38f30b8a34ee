// The other end of a test, in a process that the test can stop or kill.
//
// nccl_peer VERSION send: reads a handle from standard input, connects, and sends 100,000-byte messages for
// ever. nccl_peer VERSION receive: writes a handle to standard output, accepts, and receives such messages
// for ever. nccl_peer VERSION idle-send | idle-receive: connects and then only waits, for a byte from
// standard input, before it begins. Each writes one byte more to standard output once it is connected. What
// the plugin warns of when it does not start goes to standard error.
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "nccl/harness.h"

using namespace mrc::nccl;
using namespace mrc::nccl::testing;

namespace {

constexpr std::size_t kSize = 100'000;

bool read_all(std::uint8_t* to, std::size_t size) {
  for (ssize_t n; size > 0; size -= static_cast<std::size_t>(n), to += n) {
    if ((n = ::read(STDIN_FILENO, to, size)) <= 0) return false;
  }
  return true;
}

void* meet(Table& table, bool sends) {
  HandleBytes handle;
  void *listener = nullptr, *comm = nullptr;
  Code code = kSuccess;
  if (sends) {
    if (!read_all(handle.data(), handle.size())) return nullptr;
  } else if (table.listen(handle.data(), &listener) != kSuccess ||
             ::write(STDOUT_FILENO, handle.data(), handle.size()) != static_cast<ssize_t>(handle.size())) {
    return nullptr;
  }
  drive([&] {
    code = sends ? table.connect(handle.data(), &comm) : table.accept(listener, &comm);
    return code != kSuccess || comm != nullptr;
  });
  return comm;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string mode = arguments[2];
  const bool sends = mode.find("send") != std::string::npos, idle = mode.starts_with("idle");
  const auto table = start_plugin(std::atoi(arguments[1]));
  if (table == nullptr) std::fputs(logged_warnings().c_str(), stderr);
  void* comm = table != nullptr ? meet(*table, sends) : nullptr;
  if (comm == nullptr || ::write(STDOUT_FILENO, "!", 1) != 1) return 1;
  std::uint8_t go = 0;
  if (idle && !read_all(&go, 1)) return ::pause();
  Memory memory(*table, comm, kSize, 1);
  while (true) {
    void* request = sends ? post_send(*table, comm, memory.buffer(0, kSize, 1))
                          : post_receive(*table, comm, {memory.buffer(0, kSize, 1)});
    if (request == nullptr || wait_for(*table, request, nullptr) != kSuccess) return 0;
  }
}
