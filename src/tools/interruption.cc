#include "tools/interruption.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace mrc::tools {
namespace {

volatile std::sig_atomic_t g_signal = 0;

void act(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int s : {SIGINT, SIGTERM}) ::sigaction(s, &action, nullptr);
}

}  // namespace

void heed_interruption() {
  g_signal = 0;
  act([](int s) { g_signal = s; }, static_cast<int>(SA_RESETHAND));
}

void leave_interruption() {
  act(SIG_DFL, 0);
  g_signal = 0;
}

int interruption() { return g_signal; }

void end_interrupted() {
  std::fflush(nullptr);
  act(SIG_DFL, 0);
  std::raise(g_signal);
  std::_Exit(128 + g_signal);  // it was blocked
}

}  // namespace mrc::tools
