// Several workloads at once on one fabric, each with its own start time. A host may take part in many.
//
// Tags, flow names, timers and signals of a member carry its number in their top bits; a member sees only its
// own, as if it were alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/workload.h"

namespace mrc::sim {

class Ensemble final : public Workload {
 public:
  static constexpr std::uint32_t kMost = 16;  // members
  static constexpr int kMemberShift = 28;     // of tags and flow names
  static std::uint32_t member_of(std::uint32_t tag_or_flow) { return tag_or_flow >> kMemberShift; }
  static std::uint32_t own_part(std::uint32_t tag_or_flow) {
    return tag_or_flow & ((1u << kMemberShift) - 1);
  }

  struct Member {
    std::unique_ptr<Workload> load;
    Ps start = 0;
    std::string name;
  };
  /// REQUIRES: at most kMost, whose tags and flow names fit below kMemberShift and tokens below 2^59.
  explicit Ensemble(std::vector<Member> members) : members_(std::move(members)) {}

  const std::vector<Member>& members() const { return members_; }

  bool takes_part(Host host) const override;
  std::uint32_t peers(Host host) const override;
  void start(Host host, Actions& actions) override;
  void on_received(Host host, Host peer, std::uint32_t tag, Actions& actions) override;
  void on_sent(Host host, const Message& message, Actions& actions) override;
  void on_timer(Host host, std::uint64_t token, Actions& actions) override;
  void on_signal(Host host, std::uint64_t word, Actions& actions) override;
  std::string unfinished() const override;
  std::vector<std::uint64_t> standing(Host host) const override;
  void adopt(Host host, std::span<const std::uint64_t> standing) override;

 private:
  std::vector<Member> members_;
};

}  // namespace mrc::sim
