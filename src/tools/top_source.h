// What `mrc top` shows, and where it comes from.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "tools/top_picture.h"

namespace mrc::tools {

struct TopOptions {
  std::string scenario, recording, socket, lab;
  double every = 0.5;
  bool once = false, json = false;
};

/// Brings the picture up to date; false when there is nothing new.
class TopSource {
 public:
  virtual ~TopSource() = default;
  virtual Result<bool> refresh(TopPicture& picture) = 0;
  virtual std::string json() = 0;
  /// Nothing new will ever come.
  virtual bool over() const { return false; }
  /// Readable when something has happened; -1: nobody tells.
  virtual int news() const { return -1; }
  /// Of two pictures one makes a rate: how long after the first the second is there.
  virtual std::chrono::milliseconds settles() const { return std::chrono::milliseconds(0); }
};

/// A node, a fabric or a recording, as the options say.
Result<std::unique_ptr<TopSource>> open_top_source(const TopOptions& options);

}  // namespace mrc::tools
