// One line on standard error that changes in place while something takes its time: on terminals only, and
// gone at the end.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace mrc::tools {

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted = true) : on_(wanted && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text) {
    if (!on_ || text == shown_) return;
    std::fprintf(stderr, "\r%s\033[K", text.c_str());
    shown_ = text;
  }
  void clear() {
    if (!shown_.empty()) std::fputs("\r\033[K", stderr);
    shown_.clear();
  }

 private:
  bool on_;
  std::string shown_;
};

}  // namespace mrc::tools
