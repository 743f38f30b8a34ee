// Threads of the plugin's own: signals are the application's business, and none is delivered to them.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "base/result.h"

namespace mrc::nccl {

/// An error where the system has no more threads: containers often allow few.
template <class Work>
Result<std::thread> start_thread(const char* name, Work&& work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  int refused = 0;
  try {
    thread = std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    refused = error.code().value();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (refused != 0) {
    return Error{refused, std::string("no thread can be started (") + name + "): " + std::strerror(refused) +
                              ": raise ulimit -u, or the number of processes that the container may have"};
  }
  pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace mrc::nccl
