// A GOAL graph at work: an operation starts when all that it requires has happened.
#pragma once

#include <map>
#include <vector>

#include "sim/goal_file.h"
#include "sim/workload.h"

namespace mrc::sim {

class GoalWorkload final : public Workload {
 public:
  explicit GoalWorkload(GoalFile file);

  bool takes_part(Host host) const override {
    return host < file_.ranks.size() && !file_.ranks[host].ops.empty();
  }
  std::uint32_t peers(Host host) const override;
  void start(Host host, Actions& actions) override;
  void on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) override;
  void on_sent(Host host, const Message& message, Actions& actions) override;
  void on_timer(Host host, std::uint64_t token, Actions& actions) override;
  void on_signal(Host, std::uint64_t, Actions&) override {}
  std::string unfinished() const override;
  std::vector<std::uint64_t> standing(Host host) const override;
  void adopt(Host host, std::span<const std::uint64_t> standing) override;

 private:
  /// Receives that wait for a message, and messages that wait for a receive, of one peer and tag: never both.
  struct Match {
    std::vector<std::uint32_t> receives;
    std::uint32_t messages = 0;
  };
  struct Progress {
    std::vector<std::uint32_t> waits;  // edges that an operation still waits for
    std::uint32_t left = 0;
    std::map<std::pair<Host, std::uint32_t>, Match> matches;
  };

  void begin(Host host, std::uint32_t op, Actions& actions);
  void end(Host host, std::uint32_t op, Actions& actions);
  void follow(Host host, std::uint32_t op, bool on_start, Actions& actions);

  GoalFile file_;
  std::vector<Progress> progress_;
};

}  // namespace mrc::sim
