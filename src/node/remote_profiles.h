// The profiles of a node where mrcd runs: a proxy that serves the QPs of this process, remembers what they
// hold while mrcd is away, and tells mrcd of this process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "node/daemon_link.h"
#include "node/profile_store.h"
#include "node/proof.h"

namespace mrc::node {

/// The device of this process, as the node sees it. Called from the link's thread.
class Member {
 public:
  virtual Hello introduce() const = 0;
  virtual void on_ports_disabled(PortMask disabled) = 0;
  virtual ProcessFacts process_facts() const = 0;
  virtual std::vector<Qpn> qpns() const = 0;
  /// Of those QPs that are still there.
  virtual std::vector<QpFacts> qp_facts(std::span<const Qpn> which, bool with_evs) const = 0;

 protected:
  ~Member() = default;
};

class RemoteProfiles final : public ProfileStore, private DaemonLink::Owner {
 public:
  RemoteProfiles(std::string path, Member& member, const LinkSettings& settings = {});
  ~RemoteProfiles() override { stop(); }

  /// An error: no mrcd is there, or it is another node's.
  Status start() { return link_.start(); }
  void stop() { link_.stop(); }
  bool connected() const { return link_.connected(); }

  const ProfileLimits& limits() const override { return limits_; }
  std::uint32_t free_evs() const override { return value_of(ask_free_evs()); }
  int modify_format(std::uint64_t id, const FormatChange& change) override;
  Outcome modify_ev(std::uint64_t id, const EvChange& change) override;
  int modify_cc(std::uint64_t id, const CcChange& change) override;
  FormatProfile format(std::uint64_t id) const override { return value_of(ask_format(id)); }
  EvProfile ev(std::uint64_t id) const override { return value_of(ask_ev(id)); }
  CcProfile cc(std::uint64_t id) const override { return value_of(ask_cc(id)); }
  Result<std::uint32_t> ask_free_evs() const override;
  Result<FormatProfile> ask_format(std::uint64_t id) const override;
  Result<EvProfile> ask_ev(std::uint64_t id) const override;
  Result<CcProfile> ask_cc(std::uint64_t id) const override;
  Result<EvSet> acquire_ev(std::uint64_t id) override;
  void release_ev(std::uint64_t id) override;
  Result<engine::CcProfile> acquire_cc(std::uint64_t id) override;
  void release_cc(std::uint64_t id) override;
  void report_ev(std::uint64_t id, std::uint32_t slot, bool bad) override;
  void listen(ProfileListener* listener) override;
  void unlisten(ProfileListener* listener) override;
  void subscribe(EvEventQueue* queue) override;
  void unsubscribe(EvEventQueue* queue) override;

  /// For all processes of the node.
  int set_port(PortId port, bool enabled);
  void note_qp_failed(Qpn qpn);

  /// The first before the device's locks are taken, the second after.
  void before_fork_outer() { listeners_mutex_.lock(); }
  void before_fork() { link_.before_fork(); }
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  template <class Wanted>
  Result<Wanted> ask(const Body& question) const;
  template <class Value>
  static Value value_of(Result<Value> result) {
    return result ? *std::move(result) : Value{};
  }

  /// What QPs of this process hold of one profile. While they do, the controller can change only denials of
  /// it, so the copy is as good as mrcd's.
  struct HeldEvs {
    std::uint32_t users = 0;
    EvSet set;
    std::map<std::uint32_t, std::uint32_t> bad;  // slot -> QPs that hold it for bad
  };
  struct HeldCc {
    std::uint32_t users = 0;
    engine::CcProfile profile;
  };
  struct Denial {
    std::uint64_t id;
    std::uint32_t slot;
    bool denied;
  };

  // DaemonLink::Owner
  Hello introduce() override;
  void on_welcome(const Welcome& welcome) override;
  std::vector<Body> first_words() override;
  void on_answer(const Body& body, bool claimed) override;
  void on_message(const Body& body) override;
  void collect(bool with_evs, const std::function<void(Body)>& tell) override;
  std::optional<Body> news() override;

  Outcome command(const Body& body) const;
  template <class Held>
  Held* share(std::map<std::uint64_t, Held>& all, std::uint64_t id) const;
  Holdings holdings() const;
  void adopt(const Held& held);
  void tell(const std::vector<Denial>& denials);
  void on_event(const NodeEvent& event);

  Member& member_;
  ProfileLimits limits_;
  std::mutex listeners_mutex_;  // held while they are told; taken before link_.lock(), or alone
  // Under link_.lock():
  std::map<std::uint64_t, HeldEvs> evs_;
  std::map<std::uint64_t, HeldCc> ccs_;
  std::set<EvEventQueue*> queues_;
  Challenge challenge_;
  bool met_ = false;

  std::set<ProfileListener*> listeners_;
  const std::uint64_t life_;
  std::optional<QpTotals> told_;  // totals as last told to this mrcd
  mutable DaemonLink link_;       // last: its thread calls us
};

}  // namespace mrc::node
