// A recording of a lab while it runs, for `mrc web --trace`.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "port/fd.h"

namespace mrc::tools {

/// A child that looks at the lab and writes what it sees. Ends with the object.
class LabRecorder {
 public:
  /// Returns when the first frame is written. REQUIRES: one thread.
  static Result<std::unique_ptr<LabRecorder>> start(const std::string& lab, const std::string& file);
  ~LabRecorder() { (void)finish(); }
  /// Whether the recording is whole.
  Status finish();

 private:
  LabRecorder(pid_t child, port::Fd line) : child_(child), line_(std::move(line)) {}

  pid_t child_;
  port::Fd line_;  // closed: enough
};

}  // namespace mrc::tools
