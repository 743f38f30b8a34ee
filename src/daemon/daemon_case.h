// What the tests of mrcd share: mrcd in this process, on a socket in a folder of its own, and processes that
// use it.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <thread>

#include "daemon/daemon.h"
#include "lib/privilege.h"
#include "node/daemon_client.h"
#include "node/remote_profiles.h"

namespace mrc::daemon {

using namespace node;
namespace fs = std::filesystem;

/// A mrcd without devices of its own, which can be stopped and started again.
class Mrcd {
 public:
  Mrcd() {
    char folder[] = "/tmp/mrcd_test.XXXXXX";
    folder_ = ::mkdtemp(folder);
    settings.socket = folder_ + "/mrcd.sock";
    settings.state_file = folder_ + "/mrcd.state";
    start();
  }
  ~Mrcd() {
    stop();
    fs::remove_all(folder_);
  }
  void start() {
    stop_ = port::Fd(::eventfd(0, EFD_CLOEXEC));
    daemon_ = std::make_unique<Daemon>(settings);
    const auto opened = daemon_->open({});
    if (!opened) ADD_FAILURE() << opened.error().what;
    thread_ = std::thread([this] { daemon_->run(stop_.get()); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(stop_.get(), &one, sizeof one), 8);
    thread_.join();
    daemon_.reset();
    fs::remove(settings.socket + ".lock");  // a lock lives as long as its process, which is this one
  }
  Settings settings;

 private:
  std::string folder_;
  port::Fd stop_;
  std::unique_ptr<Daemon> daemon_;
  std::thread thread_;
};

inline Hello two_ports() {
  Hello hello;
  hello.program = "test";
  hello.device = "mrc0";
  hello.ports = {{"eth0", {1}}, {"eth1", {2}}};
  return hello;
}

/// A process of the node, without a NIC.
struct Process final : Member, ProfileListener {
  explicit Process(const Mrcd& mrcd, Hello hello = two_ports(), Duration news_interval = 1s,
                   Duration call_timeout = 20s)
      : hello_(std::move(hello)),
        profiles(mrcd.settings.socket, *this,
                 {.call_timeout = call_timeout, .news_interval = news_interval}) {
    const auto started = profiles.start();
    if (!started) ADD_FAILURE() << started.error().what;
    profiles.listen(this);
  }
  ~Process() {
    profiles.unlisten(this);
    profiles.stop();
  }
  Hello introduce() const override { return hello_; }
  void on_ports_disabled(PortMask mask) override {
    note([&] { disabled = mask; });
  }
  void on_ev_denied(std::uint64_t, std::uint32_t slot, bool now) override {
    note([&] { now ? (void)denied.insert(slot) : (void)denied.erase(slot); });
  }
  ProcessFacts process_facts() const override {
    ProcessFacts facts;
    facts.totals.tx_packets = 11;
    facts.qp_count = 2;
    facts.ports.resize(2);
    facts.ports[1].counters.rx_bytes = 5;
    note([&] { ++times_read; });
    return facts;
  }
  std::vector<Qpn> qpns() const override { return {Qpn(17), Qpn(18)}; }
  std::vector<QpFacts> qp_facts(std::span<const Qpn> which, bool with_evs) const override {
    std::vector<QpFacts> all;
    for (const Qpn qpn : which) {
      all.push_back({.qpn = qpn, .state = QpFactState::rts, .repairs = 3});
      if (with_evs) all.back().evs.push_back({Ev(61000), PortId(1), EvFactState::assumed_bad});
    }
    return all;
  }
  template <class Change>
  void note(Change change) const {
    const std::lock_guard lock(mutex);
    change();
    changed.notify_all();
  }
  template <class Condition>
  bool wait_until(Condition condition) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(20), condition);
  }

  Hello hello_;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  mutable int times_read = 0;  // its counters
  PortMask disabled;
  std::set<std::uint32_t> denied;
  RemoteProfiles profiles;
};

inline EvChange automatic(std::uint32_t count) {
  return {.state = ProfileState::offline,
          .mode = EvMode::automatic,
          .count = count,
          .min_active = 1,
          .event_mask = 7};
}

struct DaemonTest : ::testing::Test {
  void SetUp() override {
    if (!lib::may_control()) GTEST_SKIP() << "needs CAP_NET_ADMIN";
  }
  void make_profile(Process& controller, std::uint64_t id) {
    ASSERT_EQ(controller.profiles.modify_ev(id, automatic(4)).error, 0);
    ASSERT_EQ(controller.profiles.modify_ev(id, {.state = ProfileState::online}).error, 0);
  }
  Mrcd mrcd;
};

}  // namespace mrc::daemon
