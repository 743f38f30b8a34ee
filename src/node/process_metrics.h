// Metrics of this process, served by a thread of its own for as long as a device is open: for processes that
// are asked for it (MRC_METRICS), with or without a mrcd.
//
// A device is added when it opens and removed before it goes; a scrape holds the mutex, so removing waits for
// it, and no device ends on the thread that serves.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "node/metrics_page.h"
#include "node/remote_profiles.h"

namespace mrc::node {

class ProcessMetrics {
 public:
  /// `where` as in parse_metrics_address.
  static Result<std::shared_ptr<ProcessMetrics>> start(const std::string& where);
  ~ProcessMetrics();
  ProcessMetrics(const ProcessMetrics&) = delete;
  ProcessMetrics& operator=(const ProcessMetrics&) = delete;

  std::uint16_t port() const { return server_->port(); }
  void add(const Member& member);
  void remove(const Member& member);

  // Around fork, before any lock of a device. The child has no thread, and no claim on the parent's port.
  void before_fork() { mutex_.lock(); }
  void after_fork_in_parent() { mutex_.unlock(); }
  void after_fork_in_child();

 private:
  ProcessMetrics();
  void run();
  /// REQUIRES: mutex_ held.
  std::vector<ProcessFacts> facts(bool with_qps) const;

  MetricsPage page_;
  std::mutex mutex_;
  std::set<const Member*> members_;
  std::unique_ptr<http::Server> server_;
  port::Fd stop_;
  std::thread thread_;
};

}  // namespace mrc::node
