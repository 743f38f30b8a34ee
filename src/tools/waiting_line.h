// Says on standard error what a command waits for, once it has waited for a moment: whoever started one of
// two ends looks there first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace mrc::tools {

class WaitingLine {
 public:
  explicit WaitingLine(std::string text, bool wanted = true) {
    if (wanted)
      thread_ = std::jthread([this, text = std::move(text)](const std::stop_token& end) { wait(end, text); });
  }

 private:
  using Clock = std::chrono::steady_clock;

  /// By the clock, and not by who comes first: this thread may be the last to run on a machine that is busy.
  void wait(const std::stop_token& end, const std::string& text) {
    std::unique_lock lock(mutex_);
    never_.wait_until(lock, end, moment_, [] { return false; });
    if (Clock::now() >= moment_) std::fprintf(stderr, "%s\n", text.c_str());
  }

  const Clock::time_point moment_ = Clock::now() + std::chrono::seconds(1);
  std::mutex mutex_;
  std::condition_variable_any never_;
  std::jthread thread_;  // the last one: it uses the others, and is joined first
};

}  // namespace mrc::tools
