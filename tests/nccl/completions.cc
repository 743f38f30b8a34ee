#include "nccl/completions.h"

#include <dlfcn.h>
#include <mrc.h>
#include <openmrc/connect.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <span>
#include <vector>

namespace mrc::nccl::testing {
namespace {

std::atomic<bool> polls_fail{false};
std::atomic<int> goodbyes_said{0};
std::mutex mutex;  // of what follows
Kept kind = Kept::nothing;
std::map<mrc_cq*, std::vector<ibv_wc>> kept;

/// The number 0 is that of a receiver's own writes, and of a sender's first request.
bool is_kept(const ibv_wc& wc) {
  const bool arrival = wc.wr_id >> 63 != 0;
  if (kind == Kept::arrivals) return arrival && wc.byte_len >= kLeastKept;
  return kind == Kept::acknowledgements && !arrival && (wc.wr_id & 0xFF) != 0;
}

int let_go(std::vector<ibv_wc>& from, std::span<ibv_wc> to) {
  const auto n = std::min(from.size(), to.size());
  std::copy_n(from.begin(), n, to.begin());
  from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(n));
  return static_cast<int>(n);
}

/// Of the `n` that have come, what is not kept. What was kept comes when nothing else does.
int filter(mrc_cq* cq, std::span<ibv_wc> wc, int n) {
  const std::lock_guard lock(mutex);
  if (n == 0 && kind == Kept::nothing) return let_go(kept[cq], wc);
  if (n <= 0) return n;
  const auto end = wc.begin() + n;
  const auto rest = std::stable_partition(wc.begin(), end, [](const ibv_wc& one) { return !is_kept(one); });
  kept[cq].insert(kept[cq].end(), rest, end);
  return static_cast<int>(rest - wc.begin());
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(
      ::dlsym(::dlopen("libmrc.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL), name));
}

}  // namespace

void keep(Kept what) {
  const std::lock_guard lock(mutex);
  kind = what;
}

bool has_kept() {
  const std::lock_guard lock(mutex);
  return std::any_of(kept.begin(), kept.end(), [](const auto& queue) { return !queue.second.empty(); });
}

void let_polls_fail(bool fail) { polls_fail = fail; }

int goodbyes() { return goodbyes_said; }

}  // namespace mrc::nccl::testing

using namespace mrc::nccl::testing;

extern "C" __attribute__((visibility("default"))) int mrc_poll_cq(mrc_cq* cq, int count, ibv_wc* wc) {
  static const auto poll = real<int (*)(mrc_cq*, int, ibv_wc*)>("mrc_poll_cq");
  if (!polls_fail) return filter(cq, {wc, static_cast<std::size_t>(count)}, poll(cq, count, wc));
  errno = EOVERFLOW;
  return -1;
}

extern "C" __attribute__((visibility("default"))) int openmrc_say_goodbye(openmrc_connection* connection) {
  static const auto say = real<int (*)(openmrc_connection*)>("openmrc_say_goodbye");
  const int error = say(connection);
  ++goodbyes_said;
  return error;
}
