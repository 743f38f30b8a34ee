// mrcd: what outlives a process on a node. One thread, one socket, one loop.
//
// It holds profiles and port states for every process, adds up counters, passes events on, and answers
// endpoint operations through devices of its own when no application runs. No packet of an application passes
// through it.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "daemon/mapping.h"
#include "daemon/session.h"
#include "daemon/settings.h"
#include "node/metrics_page.h"
#include "port/fd.h"

namespace mrc::daemon {

class Daemon final : private lib::DeviceListener {
 public:
  explicit Daemon(Settings settings) : settings_(std::move(settings)) {}
  ~Daemon();

  /// Takes the socket (or `listening`, when somebody else opened it) and reads the state file.
  Status open(port::Fd listening);
  /// A device of mrcd's own. Its NIC answers endpoint operations.
  void add_own(std::shared_ptr<lib::Device> device);
  /// The TCP port of the metrics; 0: none.
  std::uint16_t metrics_port() const { return metrics_ == nullptr ? std::uint16_t{0} : metrics_->port(); }
  /// Probes the fabric from here on, and denies EVs of its own devices by what it finds.
  void map_with(std::unique_ptr<Mapping> mapping);
  /// Serves until `stop` is readable.
  void run(int stop);

 private:
  using Sessions = std::list<std::unique_ptr<Session>>;
  struct Collecting {
    std::uint32_t id = 0;  // of our Collect
    bool done = false;
    std::vector<std::uint8_t> parts;  // its QpParts as they will be sent
  };
  struct PendingSnapshot {
    Session* asker = nullptr;
    std::uint32_t id = 0;
    Clock::time_point deadline;
    std::size_t bytes = 0;
    bool truncated = false;
    std::map<Session*, Collecting> from;
  };
  struct DeviceWatcher;

  // daemon.cc: connections
  void accept();
  void rest_from_accepting();
  void hear_of_connections(bool wanted);
  void serve(Session& session, std::uint32_t events);
  bool take(Session& session);
  bool handle_some(Session& session);
  void turn_away(Session& session, const node::MessageStream::Foreign& who);
  void close(Session& session);
  void tick();
  void settle();
  void flush(Session& session);
  void watch(Session& session);

  // daemon_dispatch.cc: one message
  bool handle(Session& session, node::Message& message);
  void answer(Session& session, std::uint32_t id, int error, std::string what = {}, std::uint32_t entry = 0);
  void reply(Session& session, std::uint32_t id, node::Body body);
  bool on(Session& s, std::uint32_t id, node::Hello& m);
  void join(Session& s, const node::Hello& m);
  DeviceState* device_named(const std::string& name);
  DeviceState* device_for(const node::Hello& m);
  void part(Session& s);
  void leave(Session& s);
  void on(Session& s, std::uint32_t id, const node::Prove& m);

  // daemon_profiles.cc
  bool may_change(Session& s, std::uint32_t id);
  bool has_device(Session& s, std::uint32_t id);
  void on(Session& s, std::uint32_t id, const node::ModifyFormat& m);
  void on(Session& s, std::uint32_t id, const node::ModifyEv& m);
  void on(Session& s, std::uint32_t id, const node::ModifyCc& m);
  void on(Session& s, std::uint32_t id, const node::GetFormat& m);
  void on(Session& s, std::uint32_t id, const node::GetEv& m);
  void on(Session& s, std::uint32_t id, const node::GetCc& m);
  void on(Session& s, std::uint32_t id, const node::GetProfiles& m);
  void on(Session& s, std::uint32_t id, const node::AcquireEv& m);
  void on(Session& s, std::uint32_t id, const node::AcquireCc& m);
  void on(Session& s, std::uint32_t id, const node::ReleaseEv& m);
  void on(Session& s, std::uint32_t id, const node::ReleaseCc& m);
  void on(Session& s, std::uint32_t id, const node::ReportEv& m);
  void on(Session& s, std::uint32_t id, const node::Holdings& m);
  void release(Session& s, std::uint64_t ev_profile);
  void release_all(Session& s);
  void tell_denials(DeviceState& device, std::uint64_t id, const node::EvProfile& before);
  void changed(DeviceState& device, node::ProfileKind kind, std::uint64_t id, std::uint32_t pid);

  // daemon_events.cc
  void on(Session& s, std::uint32_t id, const node::SetPort& m);
  void on(Session& s, std::uint32_t id, const node::Subscribe& m);
  void on(Session& s, std::uint32_t id, const node::Happened& m);
  void broadcast(DeviceState& device, node::NodeEvent event);
  void pump(Session& session);
  void drain_ev_events(DeviceState& device);
  void take_link_events();
  // lib::DeviceListener: any thread
  void on_port(PortId port, bool active) override;
  void on_gid_change(PortId) override {}

  // daemon_snapshot.cc
  void on(Session& s, std::uint32_t id, const node::GetSnapshot& m);
  void on(Session& s, std::uint32_t id, const node::GetDevices& m);
  void on(Session& s, std::uint32_t id, const node::Report& m);
  void on(Session& s, std::uint32_t id, node::QpPart& m);
  void on(Session& s, std::uint32_t id, const node::Answer& m);
  void finish_snapshots();
  void finish(PendingSnapshot& pending);
  void forget_snapshots(Session& session);
  node::Snapshot head() const;
  node::DeviceFacts facts_of(const DeviceState& device) const;
  std::size_t unsent() const;

  // daemon_mapping.cc
  void follow_findings();

  // daemon_metrics.cc
  Status open_metrics();
  node::Snapshot metrics_snapshot() const;

  int wait_ms() const;

  Settings settings_;
  port::Fd listening_, epoll_, kick_;
  node::MetricsPage metrics_page_;
  std::unique_ptr<http::Server> metrics_;
  std::unique_ptr<Mapping> mapping_;
  bool own_path_ = false;  // the socket file is ours to remove
  Sessions sessions_;
  std::map<std::uint32_t, std::size_t> sessions_of_;  // by user
  std::set<Session*> touched_;                        // have something to flush
  std::set<Session*> closing_;
  Devices devices_;
  std::list<PendingSnapshot> snapshots_;
  std::uint32_t last_collect_ = 0;
  bool dirty_ = false;    // the state file is older than the state,
  bool unsaved_ = false;  // and could not be written: once more at each tick
  bool accepting_ = true;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_tick_{};
  std::mutex links_mutex_;
  bool links_changed_ = false;
  std::map<std::string, PortMask> links_up_;  // by device key, as last told
};

}  // namespace mrc::daemon
