#include "port/descriptor_room.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>

#include "port/fd.h"

namespace mrc::port {
namespace {

std::atomic<unsigned> promised{0};  // to all ports of this process

/// The kernel never shrinks the table: a descriptor with that number, gone again at once, is all it takes.
void grow_to(unsigned descriptors) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == 0) return;
  const Fd any(::epoll_create1(EPOLL_CLOEXEC));
  if (!any) return;
  const auto last = std::min<rlim_t>(limit.rlim_cur - 1, static_cast<rlim_t>(any.get()) + descriptors);
  const Fd high(::fcntl(any.get(), F_DUPFD_CLOEXEC, static_cast<int>(last)));
}

}  // namespace

DescriptorRoom::DescriptorRoom(unsigned descriptors) : descriptors_(descriptors) {
  grow_to(promised.fetch_add(descriptors_) + descriptors_);
}

DescriptorRoom::~DescriptorRoom() { promised.fetch_sub(descriptors_); }

}  // namespace mrc::port
