// What mrcd promises to the processes of a node.
#include <set>

#include "daemon/daemon_case.h"

namespace mrc::daemon {
namespace {

TEST_F(DaemonTest, AProfileServesOtherProcesses) {  // MRC-NODE-001
  Process controller(mrcd), application(mrcd);
  make_profile(controller, 9);
  const auto set = application.profiles.acquire_ev(9);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->evs.size(), 4u);
  EXPECT_EQ(controller.profiles.ev(9).users, 1u);
  EXPECT_EQ(controller.profiles.modify_ev(9, {.state = ProfileState::offline}).error, EBUSY);
  application.profiles.release_ev(9);
  EXPECT_EQ(application.profiles.ev(9).users, 0u);  // asked on the same connection: the release came first
  EXPECT_EQ(controller.profiles.modify_ev(9, {.state = ProfileState::offline}).error, 0);
  EXPECT_FALSE(application.profiles.acquire_ev(9));
  const auto failed = controller.profiles.modify_ev(
      9, {.states = {{controller.profiles.ev(9).slots[0].value, EvState::denied}, {{}, EvState::denied}}});
  EXPECT_EQ(failed.error, ENOENT);
  EXPECT_EQ(failed.entry, 1u);
}

TEST_F(DaemonTest, AnotherDeviceHasItsOwnProfiles) {
  Process here(mrcd);
  Hello other = two_ports();
  other.ports[0].address = {7};
  Process there(mrcd, other);
  make_profile(here, 9);
  EXPECT_FALSE(there.profiles.acquire_ev(9));
}

TEST_F(DaemonTest, DevicesThatProcessesCallAlikeAreTwoForWhoLooks) {
  Hello other = two_ports();
  for (PortPlace& port : other.ports) port.address = {};  // before the first in every order
  Process first(mrcd);
  Process second(mrcd, other), third(mrcd, other);
  auto observer = DaemonClient::open(mrcd.settings.socket);
  ASSERT_TRUE(observer);
  const auto snapshot = observer->snapshot(false);
  ASSERT_TRUE(snapshot);
  std::multiset<std::string> devices, users;
  for (const DeviceFacts& device : snapshot->devices) devices.insert(device.name);
  for (const ProcessFacts& process : snapshot->processes) users.insert(process.device);
  EXPECT_EQ(devices, (std::multiset<std::string>{"mrc0", "mrc0@::"}));
  EXPECT_EQ(users, (std::multiset<std::string>{"mrc0", "mrc0@::", "mrc0@::"}));
  EXPECT_TRUE(DaemonClient::open(mrcd.settings.socket, "mrc0@::"));
}

TEST_F(DaemonTest, AProcessThatDiesHoldsNothing) {
  Process controller(mrcd);
  {
    Process application(mrcd);
    make_profile(controller, 9);
    ASSERT_TRUE(application.profiles.acquire_ev(9));
    application.profiles.report_ev(9, 2, true);
    EXPECT_EQ(application.profiles.ev(9).slots[2].state(), EvState::assumed_bad);
  }
  auto observer = DaemonClient::open(mrcd.settings.socket, "mrc0");
  ASSERT_TRUE(observer);
  // mrcd reads the end of that connection before it reads this one's question, or a little later.
  for (int i = 0; i < 1000 && controller.profiles.ev(9).users > 0; ++i) continue;
  EXPECT_EQ(controller.profiles.ev(9).users, 0u);
  EXPECT_EQ(controller.profiles.ev(9).slots[2].state(), EvState::good);
}

TEST_F(DaemonTest, OnlyTheCapabilityMayChange) {  // MRC-NODE-002, MRC-CTL-002
  Process process(mrcd);
  auto client = DaemonClient::open(mrcd.settings.socket, "mrc0");
  ASSERT_TRUE(client) << client.error().what;
  const Body changes[] = {ModifyEv{1, automatic(4)}, ModifyFormat{1, {}}, ModifyCc{1, {}},
                          SetPort{PortId(1), false}};
  for (const Body& change : changes) {
    const auto refused = client->call(change);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, EPERM);
  }
  const auto no_socket = client->call(Prove{});  // without a socket beside it
  ASSERT_FALSE(no_socket);
  EXPECT_EQ(no_socket.error().code, EPERM);
  EXPECT_TRUE(client->prove());
  EXPECT_TRUE(client->call(ModifyEv{1, automatic(4)}));
}

TEST(Proof, IsOfThisChallenge) {
  if (!lib::may_control()) GTEST_SKIP() << "needs CAP_NET_ADMIN";
  const Challenge first = make_challenge(), second = make_challenge();
  const auto proof = make_proof(first);
  ASSERT_TRUE(proof);
  EXPECT_TRUE(proves(proof->get(), first));
  EXPECT_FALSE(proves(proof->get(), second));
  EXPECT_FALSE(proves(proof->get(), {first.receive, first.send + 1}));
  EXPECT_FALSE(proves(0, first));
  const port::Fd plain(::socket(AF_INET, SOCK_DGRAM, 0));
  const int wish = static_cast<int>(first.receive);
  ::setsockopt(plain.get(), SOL_SOCKET, SO_RCVBUF, &wish, sizeof wish);  // as anybody may
  EXPECT_FALSE(proves(plain.get(), first));
}

TEST_F(DaemonTest, ARestartLosesNothing) {  // MRC-NODE-003
  Process controller(mrcd), application(mrcd);
  make_profile(controller, 9);
  const engine::NsccConfig config = engine::default_nscc({});
  ASSERT_EQ(controller.profiles.modify_cc(
                3, {.state = ProfileState::offline, .algorithm = engine::CcAlgorithm::nscc}),
            0);
  ASSERT_EQ(controller.profiles.modify_cc(3, {.state = ProfileState::online, .config = config}), 0);
  ASSERT_EQ(controller.profiles.modify_format(5, {.state = ProfileState::offline, .mode = FormatMode::stev}),
            0);
  ASSERT_EQ(controller.profiles.modify_format(5, {.state = ProfileState::online, .widths = {{8, 8}}}), 0);
  ASSERT_EQ(controller.profiles.set_port(PortId(2), false), 0);
  EvEventQueue events(16);
  controller.profiles.subscribe(&events);
  ASSERT_TRUE(application.profiles.acquire_ev(9));
  ASSERT_TRUE(application.profiles.acquire_cc(3));
  const EvValue first = controller.profiles.ev(9).slots[0].value;
  mrcd.stop();
  application.profiles.report_ev(9, 1, true);       // while mrcd is away
  EXPECT_TRUE(application.profiles.acquire_ev(9));  // as held: another QP may have it
  mrcd.start();

  // Requests wait for the connection to come back.
  const EvProfile after = controller.profiles.ev(9);
  EXPECT_EQ(after.state, ProfileState::online);
  EXPECT_EQ(after.slots.at(0).value, first);
  EXPECT_EQ(application.profiles.ev(9).users, 2u);
  EXPECT_EQ(application.profiles.ev(9).slots[1].state(), EvState::assumed_bad);
  EXPECT_EQ(application.profiles.cc(3).users, 1u);
  EXPECT_EQ(application.profiles.cc(3).config->max_cwnd, config.max_cwnd);
  EXPECT_EQ(application.profiles.format(5).widths, (std::vector<std::uint8_t>{8, 8}));
  EXPECT_TRUE(application.disabled.has(PortId(2)));
  EXPECT_EQ(controller.profiles.modify_ev(9, {.states = {{first, EvState::denied}}}).error, 0);
  EXPECT_TRUE(application.wait_until([&] { return application.denied.contains(0); }));
  (void)controller.profiles.ev(9);  // answered behind the event
  EvEvent heard[16];
  EXPECT_GE(events.poll(heard), 1u);
  controller.profiles.unsubscribe(&events);
}

TEST_F(DaemonTest, WhoAsksWhileMrcdIsAwayHearsThatAndNoProfile) {
  Process controller(mrcd, two_ports(), 1s, 50ms);
  make_profile(controller, 9);
  ASSERT_TRUE(controller.profiles.ask_ev(9));
  mrcd.stop();
  EXPECT_EQ(controller.profiles.ask_ev(9).error().code, EAGAIN);
  EXPECT_EQ(controller.profiles.ask_cc(3).error().code, EAGAIN);
  EXPECT_EQ(controller.profiles.ask_format(5).error().code, EAGAIN);
  EXPECT_EQ(controller.profiles.ask_free_evs().error().code, EAGAIN);
  mrcd.start();
}

TEST_F(DaemonTest, DenialsMissedWhileAwayAreHeard) {
  Process application(mrcd);
  {
    Process controller(mrcd);
    make_profile(controller, 9);
    ASSERT_TRUE(application.profiles.acquire_ev(9));
    const EvValue first = controller.profiles.ev(9).slots[3].value;
    ASSERT_EQ(controller.profiles.modify_ev(9, {.states = {{first, EvState::denied}}}).error, 0);
  }
  ASSERT_TRUE(application.wait_until([&] { return application.denied.contains(3); }));
  mrcd.stop();
  fs::remove(mrcd.settings.state_file);
  mrcd.start();
  // Nobody knows the profile any more: what the process holds stays as it is, and mrcd goes on without.
  EXPECT_EQ(application.profiles.ev(9).state, ProfileState::init);
  EXPECT_TRUE(application.denied.empty() || application.denied.contains(3));
}

TEST_F(DaemonTest, PortsAreDisabledForEveryProcess) {  // MRC-CTL-001
  Process one(mrcd), two(mrcd);
  ASSERT_EQ(one.profiles.set_port(PortId(2), false), 0);
  EXPECT_TRUE(two.wait_until([&] { return two.disabled.has(PortId(2)); }));
  EXPECT_EQ(one.profiles.set_port(PortId(3), false), EINVAL);
  Process late(mrcd);
  EXPECT_TRUE(late.disabled.has(PortId(2)));
}

TEST_F(DaemonTest, EventsOfEveryProcessReachWhoSubscribed) {  // MRC-CTL-016
  Process controller(mrcd), application(mrcd);
  make_profile(controller, 9);
  auto watcher = DaemonClient::open(mrcd.settings.socket);
  ASSERT_TRUE(watcher);
  ASSERT_TRUE(watcher->subscribe(kAllEvents));
  ASSERT_TRUE(application.profiles.acquire_ev(9));
  application.profiles.report_ev(9, 2, true);
  application.profiles.note_qp_failed(Qpn(77));
  auto event = watcher->next_event(20s);
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->kind, EventKind::ev_state);
  EXPECT_EQ((*event)->profile, 9u);
  EXPECT_EQ((*event)->state, EvState::assumed_bad);
  EXPECT_EQ((*event)->device, "mrc0");
  event = watcher->next_event(20s);
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->kind, EventKind::qp_failed);
  EXPECT_EQ((*event)->qpn, Qpn(77));
  EXPECT_EQ((*event)->pid, static_cast<std::uint32_t>(::getpid()));
}

TEST_F(DaemonTest, ASnapshotHoldsEveryProcess) {
  Process one(mrcd), two(mrcd);
  auto client = DaemonClient::open(mrcd.settings.socket);
  ASSERT_TRUE(client);
  const auto snapshot = client->snapshot(true);
  ASSERT_TRUE(snapshot) << snapshot.error().what;
  ASSERT_EQ(snapshot->devices.size(), 1u);
  EXPECT_EQ(snapshot->devices[0].totals.tx_packets, 22u);
  EXPECT_EQ(snapshot->devices[0].ports[1].counters.rx_bytes, 10u);
  ASSERT_EQ(snapshot->processes.size(), 2u);
  for (const ProcessFacts& process : snapshot->processes) {
    EXPECT_TRUE(process.answered);
    EXPECT_EQ(process.pid, static_cast<std::uint32_t>(::getpid()));
    ASSERT_EQ(process.qps.size(), 2u);
    EXPECT_EQ(process.qps[1].qpn, Qpn(18));
    EXPECT_EQ(process.qps[1].evs.at(0).state, EvFactState::assumed_bad);
  }
  const std::string json = to_json(*snapshot);
  EXPECT_NE(json.find("\"state\":\"assumed_bad\""), std::string::npos);
}

TEST_F(DaemonTest, CountersOfProcessesThatEndedStay) {
  auto client = DaemonClient::open(mrcd.settings.socket);
  ASSERT_TRUE(client);
  Process stays(mrcd);
  ASSERT_TRUE(client->subscribe(static_cast<std::uint32_t>(EventKind::process_left)));
  {
    const Process goes(mrcd);
    ASSERT_TRUE(
        client->snapshot(true));  // its counters were heard: what it says at the end may come too late
  }
  ASSERT_TRUE(client->next_event(20s));
  const auto snapshot = client->snapshot(false);
  ASSERT_TRUE(snapshot);
  EXPECT_EQ(snapshot->processes.size(), 1u);
  EXPECT_EQ(snapshot->devices.at(0).totals.tx_packets, 22u);
}

}  // namespace
}  // namespace mrc::daemon
