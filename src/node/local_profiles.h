// The profiles of a device in this process: the tables, who uses what, and who hears of it.
#pragma once

#include <map>
#include <mutex>
#include <set>

#include "node/profile_rules.h"
#include "node/profile_store.h"

namespace mrc::node {

class LocalProfiles final : public ProfileStore {
 public:
  explicit LocalProfiles(const ProfileLimits& limits) : limits_(limits) {}

  const ProfileLimits& limits() const override { return limits_; }
  std::uint32_t free_evs() const override;

  int modify_format(std::uint64_t id, const FormatChange& change) override;
  Outcome modify_ev(std::uint64_t id, const EvChange& change) override;
  int modify_cc(std::uint64_t id, const CcChange& change) override;
  FormatProfile format(std::uint64_t id) const override;
  EvProfile ev(std::uint64_t id) const override;
  CcProfile cc(std::uint64_t id) const override;

  Result<EvSet> acquire_ev(std::uint64_t id) override;
  void release_ev(std::uint64_t id) override;
  Result<engine::CcProfile> acquire_cc(std::uint64_t id) override;
  void release_cc(std::uint64_t id) override;
  void report_ev(std::uint64_t id, std::uint32_t slot, bool bad) override;

  void listen(ProfileListener* listener) override;
  void unlisten(ProfileListener* listener) override;
  void subscribe(EvEventQueue* queue) override;
  void unsubscribe(EvEventQueue* queue) override;

  /// All there are, for whoever lists or stores them.
  std::map<std::uint64_t, FormatProfile> formats() const;
  std::map<std::uint64_t, EvProfile> evs() const;
  std::map<std::uint64_t, CcProfile> ccs() const;

 private:
  struct Denial {
    std::uint32_t slot;
    bool denied;
  };
  std::uint32_t used_evs() const;
  const FormatProfile* find_format(std::uint64_t id) const;
  void announce(std::uint64_t id, const EvProfile& profile, const EvSlotState& slot);
  std::vector<Denial> announce_changes(std::uint64_t id, const EvProfile& before, const EvProfile& after);

  ProfileLimits limits_;
  mutable std::mutex mutex_;
  std::mutex
      listeners_mutex_;  // held while they are told, so that unlisten() means it; taken after mutex_ is free
  std::map<std::uint64_t, FormatProfile> formats_;
  std::map<std::uint64_t, EvProfile> evs_;
  std::map<std::uint64_t, CcProfile> ccs_;
  std::set<ProfileListener*> listeners_;
  std::set<EvEventQueue*> queues_;
};

}  // namespace mrc::node
