// What mrcd survives: nonsense, crowds, readers that do not read, and a damaged file.
#include "daemon/daemon_case.h"

namespace mrc::daemon {
namespace {

TEST_F(DaemonTest, ADamagedStateFileIsPutAside) {
  {
    Process controller(mrcd);
    make_profile(controller, 9);
  }
  mrcd.stop();
  ASSERT_TRUE(fs::exists(mrcd.settings.state_file));
  fs::resize_file(mrcd.settings.state_file, fs::file_size(mrcd.settings.state_file) - 1);
  mrcd.start();
  EXPECT_TRUE(fs::exists(mrcd.settings.state_file + ".bad"));
  Process process(mrcd);
  EXPECT_EQ(process.profiles.ev(9).state, ProfileState::init);
}

/// The next change would replace it, and what it keeps be lost.
TEST_F(DaemonTest, AStateFileThatMayNotBeReadIsAnError) {
  Settings other = mrcd.settings;
  other.socket += ".other";
  other.state_file += ".loop";
  fs::create_symlink(other.state_file, other.state_file);
  const auto opened = Daemon(other).open({});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ELOOP);
}

TEST_F(DaemonTest, NonsenseEndsOneConnectionOnly) {  // MRC-NODE-004
  Process process(mrcd);
  std::vector<std::uint8_t> hello, get;
  emit_message({1, two_ports()}, hello);
  emit_message({2, GetProfiles{}}, get);
  std::vector<std::uint8_t> twice = hello;
  twice.insert(twice.end(), hello.begin(), hello.end());
  std::vector<std::uint8_t> servers_words = hello;
  emit_message({2, Welcome{}}, servers_words);
  const std::vector<std::vector<std::uint8_t>> inputs = {
      std::vector<std::uint8_t>(4096, 0xFF),
      get,
      twice,
      servers_words,
      {'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', 0, 1, 2}};
  for (const auto& input : inputs) {
    auto fd = connect_daemon(mrcd.settings.socket);
    ASSERT_TRUE(fd);
    ASSERT_EQ(::send(fd->get(), input.data(), input.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(input.size()));
    char buffer[4096];
    ssize_t n = 1;
    while (n > 0) n = ::recv(fd->get(), buffer, sizeof buffer, 0);  // ends: mrcd closed it
    EXPECT_TRUE(n == 0 || errno == ECONNRESET);
  }
  EXPECT_EQ(process.profiles.ev(9).state, ProfileState::init);
  EXPECT_TRUE(process.profiles.connected());
}

TEST_F(DaemonTest, AThousandConnections) {
  std::vector<DaemonClient> all;
  for (int i = 0; i < 1000; ++i) {
    auto client = DaemonClient::open(mrcd.settings.socket);
    ASSERT_TRUE(client) << i << ": " << client.error().what;
    all.push_back(std::move(*client));
  }
  for (DaemonClient& client : all) ASSERT_TRUE(client.subscribe(kAllEvents));
  const Process process(mrcd);  // each hears of it
  for (DaemonClient& client : all) {
    const auto event = client.next_event(20s);
    ASSERT_TRUE(event && *event);
    EXPECT_EQ((*event)->kind, EventKind::process_joined);
  }
}

TEST_F(DaemonTest, ASubscriberThatDoesNotReadLosesEventsAndIsTold) {  // MRC-CTL-016
  mrcd.stop();
  mrcd.settings.most_events = 8;
  mrcd.start();
  Process process(mrcd);
  auto lazy = DaemonClient::open(mrcd.settings.socket);
  ASSERT_TRUE(lazy);
  ASSERT_TRUE(lazy->subscribe(kAllEvents));
  constexpr std::uint32_t kMany = 20'000;
  for (std::uint32_t i = 0; i < kMany; ++i) process.profiles.note_qp_failed(Qpn(i));
  (void)process.profiles.free_evs();  // behind them: all are dealt with
  std::uint32_t heard = 0, lost = 0;
  for (;;) {
    const auto event = lazy->next_event(200ms);
    ASSERT_TRUE(event);
    if (!*event) {
      if (heard + lost >= kMany) break;
      process.profiles.note_qp_failed(Qpn(0));  // the next one tells of those before
      --lost;                                   // and is itself not one of the many
      continue;
    }
    ++heard;
    lost += (*event)->dropped;
  }
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(heard + lost, kMany);
}

}  // namespace
}  // namespace mrc::daemon
