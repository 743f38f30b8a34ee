// `mrc sim paper`: the published results R1 to R15, run here and compared.
#pragma once

#include <string>
#include <vector>

namespace mrc::tools {

struct PaperOptions {
  bool quick = false;
  bool json = false;
  bool no_baseline = false;
  unsigned at_once = 0;
  std::string report;
  std::vector<std::string> only;  // ids; empty: all
  bool progress = false;
};

int simulate_paper(const PaperOptions& options);

}  // namespace mrc::tools
