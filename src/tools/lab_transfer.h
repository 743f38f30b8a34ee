// Bulk transfers between hosts of a lab, each end a process of its own on its host, and what they report.
#pragma once

#include <string>
#include <vector>

#include "lab/lab.h"
#include "tools/bulk.h"

namespace mrc::tools {

struct TransferEnds {
  std::string from, to;  // hosts
};

/// From a transfer's process to whoever started it.
struct TransferReport {
  enum class Kind : std::uint32_t { sample, sent, received, failed } kind = Kind::sample;
  std::uint32_t transfer = 0;
  BulkSample sample;  // of a sender while it runs, or of either end when it is done
  char why[1536] = {};
};

class LabTransfers {
 public:
  /// Forks all ends. REQUIRES: one thread.
  static Result<LabTransfers> start(lab::Lab& lab, const std::vector<TransferEnds>& ends,
                                    const BulkSettings& settings);
  LabTransfers(LabTransfers&&) = default;
  ~LabTransfers();  // kills what still runs

  /// Waits for the next report; ETIMEDOUT when all have been silent for a minute.
  /// Of a failed one, the error tells what each of its ends knew.
  Result<TransferReport> next();
  /// Senders stop posting; reports of kind sent and received follow.
  void finish();

 private:
  LabTransfers() = default;
  std::string hear_other_ends(std::uint32_t transfer);
  Status start_one(lab::Lab& lab, std::uint32_t number, const TransferEnds& ends,
                   const BulkSettings& settings);

  lab::Fd reports_, report_to_, orders_, order_from_;
  std::vector<pid_t> processes_;
};

}  // namespace mrc::tools
