// The device behind device.h: the software NIC, its ports, the progress thread, and the lock between them and
// the application's threads.
//
// Locks, in this order: tell_mutex_ (held while listeners are told), mutex_ (NIC and driver), a CQ's own (its
// consumers). Whoever drives the NIC collects what listeners must hear, lets go of mutex_, and tells them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "datapath/driver.h"
#include "lib/address_watch.h"
#include "lib/device.h"
#include "lib/device_settings.h"
#include "lib/progress.h"
#include "nic/nic.h"
#include "node/profile_store.h"
#include "node/remote_profiles.h"
#include "port/port.h"
#include "port/seat.h"

namespace mrc::lib {

class NicCq;
class NicQp;
}  // namespace mrc::lib

namespace mrc::node {
class ProcessMetrics;
}

namespace mrc::lib {

class NicDevice final : public Device,
                        private nic::Observer,
                        private nic::CongestionMaker,
                        private node::ProfileListener,
                        private node::Member,
                        private engine::EventSink {
 public:
  static Result<std::shared_ptr<NicDevice>> open(const DeviceConfig& config, const DeviceSettings& settings);
  ~NicDevice() override;

  const DeviceConfig& config() const override { return config_; }
  const Limits& limits() const override { return limits_; }
  WireTerms wire_terms() const override;
  PortStatus port_status(PortId port) const override;
  std::vector<GidEntry> gids(PortId port) const override;
  Result<Pd> create_pd() override;
  int destroy_pd(Pd pd) override;
  Result<Region> register_memory(Pd pd, void* address, std::size_t length, std::uint64_t iova,
                                 Access access) override;
  int deregister(Region region) override;
  Result<CompletionQueue*> create_cq(std::uint32_t depth, CqListener* listener) override;
  int destroy_cq(CompletionQueue* cq) override;
  Result<QueuePair*> create_qp(const QpInit& init) override;
  int destroy_qp(QueuePair* qp) override;
  DeviceCounters counters() const override;
  void listen(DeviceListener* listener) override;
  void unlisten(DeviceListener* listener) override;
  node::ProfileStore& profiles() override { return *profiles_; }
  int set_port_admin(PortId port, bool enabled) override;
  int endpoint_batch(std::span<const EndpointRequest> requests, Duration timeout,
                     std::vector<EndpointAnswer>& answers) override;

  // --- for CQs and QPs of this device ---
  /// Holds the NIC; afterwards listeners hear what happened.
  class Hold {
   public:
    explicit Hold(NicDevice& device) : device_(device), lock_(device.mutex_) {}
    ~Hold() {
      lock_.unlock();
      device_.tell();
    }

   private:
    NicDevice& device_;
    std::unique_lock<std::mutex> lock_;
  };
  /// Drives the datapath once, unless somebody else does at the moment.
  void step() { step(steady_now()); }
  /// A poll that found completions: also one who is busy with those drives, or the progress thread would
  /// begin to.
  void note_busy_poll();
  /// The last read before a fence is done. REQUIRES: the device is held.
  void note_unfenced(NicQp& qp);
  /// What has just been posted leaves now, or with the next turn of an application that is polling anyway.
  void transmit_soon(Time now, bool few_outstanding);
  void transmit_now(Time now);
  bool alive() const { return alive_; }
  nic::Nic& nic() { return *nic_; }
  const datapath::Driver& driver() const { return *driver_; }
  port::Counters port_counters(PortId port) const;
  Progress& progress() { return progress_; }
  const DeviceSettings& settings() const { return settings_; }
  /// What the peer's ports are called, from what it called one of them.
  std::vector<nic::Gid> peer_addresses(const Gid& remote, PortId by) const;
  /// Accesses beyond those of the NIC: reads stay on this device. Null when the key does not allow it.
  std::byte* readable(nic::PdId pd, std::uint32_t rkey, std::uint64_t va, std::uint64_t length) const;
  bool owns(const Gid& gid) const;
  /// Data in a class that says "trimmed" would be taken for packets without their bytes.
  bool may_send_in(std::uint8_t dscp) const;
  /// Packets in a row on one EV, of a QP with this path MTU: as the settings say, or what every port sends at
  /// once.
  std::uint8_t spray_unit(std::uint32_t path_mtu) const;
  std::uint32_t sack_bytes(std::uint32_t path_mtu) const;
  /// Every port can write the outer header of SRv6.
  bool encapsulates() const;
  /// Narrates what QPs with an EV profile see of their paths.
  engine::EventSink* path_sink() { return this; }
  /// Keeps the counters of a QP that is about to lose its engine.
  void retire(nic::Qp& qp);
  /// What a CC profile says, from when a QP names it.
  void remember_cc(std::uint64_t id, const engine::CcProfile& profile) { cc_profiles_[id] = profile; }

  /// From here on metrics tell of this device too.
  void tell_metrics(std::shared_ptr<node::ProcessMetrics> metrics);

  // --- around fork ---
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  NicDevice(const DeviceConfig& config, const DeviceSettings& settings);
  Result<QueuePair*> make_qp(const QpInit& init);
  Status open_ports();
  nic::PathTable make_auto_paths();
  nic::NicConfig nic_config();
  bool turn(Time now);
  void follow_addresses(Time now);
  void note_address(Time now, const AddressChange& change);
  void step(Time now);
  void tell();

  // nic::Observer: under mutex_
  void on_cq_notify(nic::CompletionQueue& cq) override;
  void on_cq_overrun(nic::CompletionQueue& cq) override;
  void on_qp_error(nic::Qp& qp) override;
  void on_established(nic::Qp& qp) override;
  void on_local_port(PortId port, bool up) override;
  bool on_tagged(nic::Qp& qp, nic::Cqe& entry) override;
  void on_endpoint_result(const nic::EndpointResult& result) override;
  // engine::EventSink: under mutex_
  void on_event(const engine::Event& event) override;
  // node::Member: how the node sees this process
  void join_node();
  node::Hello introduce() const override;
  void on_ports_disabled(PortMask disabled) override;
  node::ProcessFacts process_facts() const override;
  std::vector<Qpn> qpns() const override;
  std::vector<node::QpFacts> qp_facts(std::span<const Qpn> which, bool with_evs) const override;
  node::QpTotals totals() const;
  node::PortFacts port_facts(std::size_t index) const;
  // node::ProfileListener
  void on_ev_denied(std::uint64_t profile, std::uint32_t slot, bool denied) override;
  // nic::CongestionMaker
  std::unique_ptr<engine::Congestion> make(const nic::CongestionRequest& request) override;

  struct Notice {
    enum class Kind : std::uint8_t {
      cq_event,
      cq_overrun,
      qp_fatal,
      qp_access,
      established,
      unfenced,
      port,
      gids
    };
    Kind kind;
    void* who = nullptr;  // NicCq or NicQp
    PortId port;
    bool up = false;
  };
  void note(const Notice& notice);
  void tell_one(const Notice& notice);
  void tell_qp(const Notice& notice);
  void forget(const void* who);

  struct Batch;  // a call of endpoint_batch that waits

  DeviceConfig config_;
  DeviceSettings settings_;
  std::unique_ptr<node::ProfileStore> profiles_;
  node::RemoteProfiles* node_ = nullptr;  // profiles_, where mrcd runs
  std::map<std::uint64_t, engine::CcProfile> cc_profiles_;
  Limits limits_;
  std::shared_ptr<port::Seat> seat_;
  std::vector<std::unique_ptr<port::Port>> ports_;
  mutable std::mutex mutex_;
  std::mutex tell_mutex_;
  std::unique_ptr<nic::Nic> nic_;
  std::unique_ptr<datapath::Driver> driver_;
  std::optional<AddressWatch> addresses_;
  std::vector<AddressChange> address_changes_;
  Time next_address_look_ = Time::min();
  std::vector<Notice> notices_;
  std::atomic<bool> has_notices_{false};
  std::vector<Notice> telling_;
  std::set<DeviceListener*> listeners_;
  std::set<Batch*> batches_;
  std::map<std::uint32_t, int> pds_;  // objects in each
  std::uint32_t cqs_ = 0;
  std::uint32_t last_pd_ = 0;
  std::set<Qpn> qpns_;
  node::QpTotals gone_;                       // of QPs that are no more
  std::map<std::uint32_t, Access> accesses_;  // of each region, by key
  std::atomic<bool> alive_{true};
  std::atomic<Time> stepped_{Time{}};  // when an application last drove
  Progress progress_;
  std::shared_ptr<node::ProcessMetrics> metrics_;
};

}  // namespace mrc::lib
