// Processes that lose their connection to a mrcd that lives on, and come back.
#include <poll.h>

#include "daemon/daemon_case.h"

namespace mrc::daemon {
namespace {

/// Every connection of this process to mrcd ends.
void cut_connections(const std::string& path) {
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    sockaddr_un peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0 && path == peer.sun_path)
      ::shutdown(fd, SHUT_RDWR);
  }
}

Snapshot snapshot_of(const Mrcd& mrcd) {
  auto client = DaemonClient::open(mrcd.settings.socket);
  auto snapshot = client ? client->snapshot(false) : client.error();
  if (!snapshot) ADD_FAILURE() << snapshot.error().what;
  return snapshot ? std::move(*snapshot) : Snapshot{};
}

/// A connection of a process with this life that has sent so many packets; mrcd has heard it all.
MessageSocket joined(const Mrcd& mrcd, std::uint64_t life, std::uint64_t tx_packets) {
  auto fd = connect_daemon(mrcd.settings.socket);
  if (!fd) return {};
  MessageSocket socket(std::move(*fd));
  Hello hello = two_ports();
  hello.life = life;
  Report report;
  report.process.totals.tx_packets = tx_packets;
  socket.queue({1, hello});
  socket.queue({0, report});
  socket.queue({2, GetProfiles{}});
  EXPECT_TRUE(socket.flush());
  for (Message message; message.id != 2;) {
    pollfd ready{socket.fd(), POLLIN, 0};
    if (::poll(&ready, 1, 20'000) != 1 || !socket.receive()) return {};
    while (message.id != 2 && socket.next(message) == MessageStream::Next::message) continue;
  }
  return socket;
}

TEST_F(DaemonTest, AProcessThatComesBackCountsOnce) {
  Process process(mrcd), other(mrcd);
  make_profile(process, 9);  // mrcd keeps the device while nobody is connected
  ASSERT_EQ(snapshot_of(mrcd).devices.at(0).totals.tx_packets, 22u);  // it has heard their counters
  for (int round = 0; round < 3; ++round) {
    cut_connections(mrcd.settings.socket);
    for (Process* each : {&process, &other}) (void)each->profiles.ev(9);  // once they are back
    const Snapshot after = snapshot_of(mrcd);
    EXPECT_EQ(after.processes.size(), 2u);
    EXPECT_EQ(after.devices.at(0).totals.tx_packets, 22u);
    EXPECT_EQ(after.devices.at(0).ports.at(1).counters.rx_bytes, 10u);
  }
}

TEST_F(DaemonTest, ANewConnectionTakesTheOldOnesPlace) {
  const MessageSocket observer = joined(mrcd, 0, 0);  // for the device to stay
  const MessageSocket lost = joined(mrcd, 7, 100);    // whose end mrcd has not heard of
  const MessageSocket back = joined(mrcd, 7, 105);
  EXPECT_EQ(snapshot_of(mrcd).devices.at(0).totals.tx_packets, 105u);
  const MessageSocket another = joined(mrcd, 8, 100);
  EXPECT_EQ(snapshot_of(mrcd).devices.at(0).totals.tx_packets, 205u);
}

TEST_F(DaemonTest, CountersDoNotFallWhenAProcessComesBack) {
  const MessageSocket observer = joined(mrcd, 0, 0);
  (void)joined(mrcd, 7, 100);
  auto fd = connect_daemon(mrcd.settings.socket);
  ASSERT_TRUE(fd);
  MessageSocket silent(std::move(*fd));
  Hello hello = two_ports();
  hello.life = 7;
  silent.queue({1, hello});
  ASSERT_TRUE(silent.flush());
  const Snapshot before_it_reports = snapshot_of(mrcd);
  EXPECT_EQ(before_it_reports.devices.at(0).totals.tx_packets, 100u);
}

TEST_F(DaemonTest, AnotherMrcdHearsOfCountersThatRest) {
  auto process = std::make_unique<Process>(mrcd, two_ports(), 1ms);
  make_profile(*process, 9);
  ASSERT_TRUE(process->wait_until([&] { return process->times_read >= 2; }));  // told once, and nothing new
  mrcd.stop();
  mrcd.start();
  (void)process->profiles.ev(9);  // it is back
  auto watcher = DaemonClient::open(mrcd.settings.socket);
  ASSERT_TRUE(watcher && watcher->subscribe(static_cast<std::uint32_t>(EventKind::process_left)));
  process.reset();
  ASSERT_TRUE(watcher->next_event(20s));
  EXPECT_EQ(snapshot_of(mrcd).devices.at(0).totals.tx_packets, 11u);
}

}  // namespace
}  // namespace mrc::daemon
