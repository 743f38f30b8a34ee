// The published results, R1 to R15, beside ours: the scenarios that reproduce them, and the page that
// compares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/compare.h"

namespace mrc::scenario {

struct PaperFile {
  std::string name;
  std::string text;
};
/// share/scenarios/paper, in order of their names.
const std::vector<PaperFile>& paper_files();

/// One row: a setting, what was published, and what came out here.
struct PaperRow {
  Published published;
  std::string file;
  std::string variant;      // which point of the scenario's sweep; empty when there is one only
  std::uint32_t hosts = 0;  // here, which is fewer than published in most cases
  Point mrc;
  bool has_baseline = false;
  Point baseline;  // RoCEv2 in the same fabric, when it was run
};

/// "97.3 % of line rate", or why there is no figure.
std::string figure_text(const Published& published, const Point& point);
bool row_passed(const PaperRow& row);

std::string paper_report(const std::vector<PaperRow>& rows, bool quick);
std::string paper_text(const std::vector<PaperRow>& rows);
std::string paper_json(const std::vector<PaperRow>& rows);

}  // namespace mrc::scenario
