#include "nccl/harness.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace mrc::nccl::testing {
namespace {

/// What NCCL 2.28 and newer put where the request will be when they need not hear of the end: a plugin may
/// still give one, and must give nothing else.
void* const kNoCompletionNeeded = reinterpret_cast<void*>(1);

std::mutex log_mutex;
std::string warnings;

void note(LogLevel level, unsigned long, const char*, int, const char* format, ...) {
  char line[1024];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const std::lock_guard lock(log_mutex);
  if (level == kLogWarn) warnings += std::string(line) + "\n";
}

}  // namespace

// Another plugin can be driven with the same harness.
const char* plugin_path() {
  const char* other = std::getenv("OPENMRC_TEST_PLUGIN");
  return other != nullptr ? other : MRC_PLUGIN;
}
const char* peer_path() { return MRC_PEER; }

std::string logged_warnings() {
  const std::lock_guard lock(log_mutex);
  return warnings;
}
void clear_log() {
  const std::lock_guard lock(log_mutex);
  warnings.clear();
}

std::unique_ptr<Table> start_plugin(int version) {
  ::setenv("NCCL_OPENMRC_DEVICES", "lo/127.0.0.1", 0);
  ::setenv("NCCL_OPENMRC_THREADS", "2", 0);         // tests use one adapter with two lanes
  ::setenv("NCCL_OPENMRC_LONG_BYTES", "16384", 0);  // both ways of driving, however few cores there are
  ::setenv("NCCL_OPENMRC_TIMEOUT_MS", "20000", 0);  // nobody is given up because a machine is busy
  ::setenv("NCCL_OPENMRC_CONNECT_TIMEOUT_MS", "5000", 0);
  ::setenv("NCCL_OPENMRC_QPS", "3", 0);
  ::setenv("NCCL_OPENMRC_STRIPE_BYTES", "50000", 0);
  ::setenv("MRC_UDP_PORT", "14815", 0);
  auto table = load_table(plugin_path(), version);
  if (table == nullptr || table->init(&note) != kSuccess) return nullptr;
  return table;
}

bool drive(const std::function<bool()>& step, std::chrono::milliseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  while (!step()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

Memory::Memory(Table& table, void* comm, std::size_t size, std::uint8_t seed)
    : table_(table), comm_(comm), bytes_(size + 2 * kMargin, 0xEE) {
  for (std::size_t i = 0; seed != 0 && i < size; ++i) data()[i] = expected(seed, i);
  table_.register_memory(comm_, data(), std::max<std::size_t>(size, 1), kPtrHost, &memory_);
}
Memory::~Memory() { table_.deregister(comm_, memory_); }

Buffer Memory::buffer(std::size_t offset, std::size_t size, int tag) {
  return {data() + offset, size, tag, memory_};
}

bool Memory::margins_intact() const {
  for (std::size_t i = 0; i < kMargin; ++i) {
    if (bytes_[i] != 0xEE || bytes_[bytes_.size() - 1 - i] != 0xEE) return false;
  }
  return true;
}

bool connect_ends(Table& table, Ends& ends) {
  HandleBytes handle;
  if (table.listen(handle.data(), &ends.listener) != kSuccess) return false;
  bool failed = false;
  return drive([&] {
           if (ends.sender == nullptr) failed |= table.connect(handle.data(), &ends.sender) != kSuccess;
           if (ends.receiver == nullptr) failed |= table.accept(ends.listener, &ends.receiver) != kSuccess;
           return failed || (ends.sender != nullptr && ends.receiver != nullptr);
         }) &&
         !failed;
}

void close_ends(Table& table, Ends& ends) {
  if (ends.sender != nullptr) table.close_send(ends.sender);
  if (ends.receiver != nullptr) table.close_receive(ends.receiver);
  if (ends.listener != nullptr) table.close_listen(ends.listener);
  ends = {};
}

void* post_send(Table& table, void* comm, const Buffer& buffer, void* receive) {
  void* request = nullptr;
  drive([&] {
    if (table.send(comm, buffer, &request) != kSuccess || request != nullptr) return true;
    int done = 0;
    return receive != nullptr && (table.test(receive, &done, nullptr) != kSuccess || done != 0);
  });
  return request;
}

void* post_receive(Table& table, void* comm, const std::vector<Buffer>& buffers) {
  void* request = nullptr;
  drive([&] {
    request = kNoCompletionNeeded;
    return table.receive(comm, buffers, &request) != kSuccess || request != nullptr;
  });
  return request != kNoCompletionNeeded ? request : nullptr;
}

Code wait_for(Table& table, void* request, int* sizes, std::chrono::milliseconds most) {
  Code code = kSuccess;
  int done = 0;
  const bool ended =
      drive([&] { return (code = table.test(request, &done, sizes)) != kSuccess || done != 0; }, most);
  return ended ? code : kInternalError;
}

}  // namespace mrc::nccl::testing
