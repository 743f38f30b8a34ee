// The system calls of every packet, as ports make them: never a place where a thread is cancelled, see
// no_cancel.h. The C library's functions of the same names are such places; asking the kernel directly is
// what remains of them without it.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "port/no_cancel.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace mrc::port::system_calls {

// Sanitizers look at what the C library's functions read and write, and at the order that sockets make
// between threads. There the price does not matter.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kWatched = true;
#else
inline constexpr bool kWatched = false;
#endif

/// A message that the kernel puts down in shared memory makes the same order, and ThreadSanitizer has to be
/// told: by whoever sends anything, and by whoever finds one.
#if defined(__SANITIZE_THREAD__)
inline char mail_order;
inline void before_sending() { ::__tsan_release(&mail_order); }
inline void after_finding_mail() { ::__tsan_acquire(&mail_order); }
#else
inline void before_sending() {}
inline void after_finding_mail() {}
#endif

inline ssize_t send(int fd, const void* bytes, std::size_t size, int flags) {
  if constexpr (!kWatched) return ::syscall(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
  const NoCancel whole;
  before_sending();
  return ::send(fd, bytes, size, flags);
}
inline ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if constexpr (!kWatched) return ::syscall(SYS_sendmsg, fd, message, flags);
  const NoCancel whole;
  before_sending();
  return ::sendmsg(fd, message, flags);
}
inline int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if constexpr (!kWatched) return static_cast<int>(::syscall(SYS_sendmmsg, fd, messages, count, flags));
  const NoCancel whole;
  before_sending();
  return ::sendmmsg(fd, messages, count, flags);
}
inline ssize_t recvmsg(int fd, msghdr* message, int flags) {
  if constexpr (!kWatched) return ::syscall(SYS_recvmsg, fd, message, flags);
  const NoCancel whole;
  return ::recvmsg(fd, message, flags);
}
inline int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if constexpr (!kWatched)
    return static_cast<int>(::syscall(SYS_recvmmsg, fd, messages, count, flags, nullptr));
  const NoCancel whole;
  return ::recvmmsg(fd, messages, count, flags, nullptr);
}
/// Looks and does not wait.
inline int poll_now(pollfd* fds, nfds_t count) {
  timespec none{};
  if constexpr (!kWatched) return static_cast<int>(::syscall(SYS_ppoll, fds, count, &none, nullptr, 0));
  const NoCancel whole;
  return ::poll(fds, count, 0);
}

}  // namespace mrc::port::system_calls
