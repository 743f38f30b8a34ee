// The hand on a device under test, beside it: makes QPs, posts writes, tells completions and memory, through
// mrc.h alone.
#pragma once

#include <mrc.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "conform/agent_text.h"
#include "tools/conform_control.h"

namespace mrc::tools {

struct AgentOptions {
  std::string address;  // of this host: MRC's, and where testers connect to
  std::string service;
  std::string device;  // as in MRC_DEVICES; empty: the interface that has the address
  bool once = false;   // end when the first tester leaves
  bool json = false;   // how it says where it waits
};

class ConformAgent {
 public:
  static Result<std::unique_ptr<ConformAgent>> open(const AgentOptions& options);
  ~ConformAgent();

  /// One line asked, one line to answer; never an error but in words.
  std::string answer(const std::string& line);

 private:
  ConformAgent();
  Status make();
  Status raise(const conform::ConnectRequest& request);
  Status post_receives(int count);
  Result<std::string> connect(const conform::ConnectRequest& request);
  Result<std::string> post(const std::vector<conform::PostedWrite>& writes);
  Result<std::string> deny(const std::string& words);
  Result<std::string> completions();
  Result<std::string> memory(const std::string& words) const;
  void end_qp();

  std::vector<std::uint8_t> memory_;
  ibv_context* verbs_ = nullptr;
  mrc_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_mr* mr_ = nullptr;
  mrc_cq* cq_ = nullptr;
  mrc_qp* qp_ = nullptr;
  std::uint8_t gid_index_ = 3;
  ConformControl control_;
  bool controls_ = false;
};

/// Serves one tester after the other.
Status serve_conform(const AgentOptions& options);

}  // namespace mrc::tools
