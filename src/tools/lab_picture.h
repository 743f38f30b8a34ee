// A running transfer as a picture for a terminal, and its summary.
#pragma once

#include <string>

#include "tools/lab_story.h"

namespace mrc::tools {

/// Redraws itself in place on a terminal; elsewhere it writes a line each second.
class LabPicture {
 public:
  explicit LabPicture(std::vector<Phase> phases);
  void draw(std::size_t phase, double seconds, const BulkSample& now);

 private:
  void draw_screen(std::size_t phase, double seconds, const BulkSample& now, double span);
  void draw_line(std::size_t phase, double seconds, const BulkSample& now, double span);
  void note_events(std::size_t phase, const BulkSample& now);

  std::vector<Phase> phases_;
  bool terminal_;
  bool drawn_ = false;
  BulkSample last_, shown_;
  std::int64_t start_ns_ = 0;
  std::vector<std::string> events_;
  double best_plane_ = 1;  // bits per second: the scale of the bars
  std::size_t told_phase_ = ~std::size_t{0};
};

void print_summary(const StoryResult& result);
std::string summary_json(const StoryResult& result);

}  // namespace mrc::tools
