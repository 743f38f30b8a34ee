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
  void wait(const std::stop_token& end, const std::string& text) {
    std::unique_lock lock(mutex_);
    if (never_.wait_for(lock, end, std::chrono::seconds(1), [] { return false; }) || end.stop_requested())
      return;
    std::fprintf(stderr, "%s\n", text.c_str());
  }

  std::mutex mutex_;
  std::condition_variable_any never_;
  std::jthread thread_;  // the last one: it uses the others, and is joined first
};

}  // namespace mrc::tools
