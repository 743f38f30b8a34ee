// What one host's engine does, line by line.
#pragma once

#include <cstdio>
#include <string>

#include "engine/events.h"

namespace mrc::sim {

std::string text(const engine::Event& event);

/// Writes each event as one line.
class TraceSink final : public engine::EventSink {
 public:
  explicit TraceSink(std::FILE* out) : out_(out) {}
  void on_event(const engine::Event& event) override {
    if (event.when == kNever) return;  // the world is taken apart
    std::fprintf(out_, "%s\n", text(event).c_str());
  }

 private:
  std::FILE* out_;
};

}  // namespace mrc::sim
