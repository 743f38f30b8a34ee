// Listening, connecting and accepting in every order that NCCL may choose.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "nccl/handle.h"
#include "nccl/versions.h"

namespace mrc::nccl::testing {
namespace {

struct Connect : PluginTest {
  void try_connect(HandleBytes& handle, void*& sender) {
    const Code code = sender == nullptr ? table->connect(handle.data(), &sender) : kSuccess;
    EXPECT_EQ(code, kSuccess) << logged_warnings();
  }
  Handle listen(HandleBytes& bytes, Ends& ends) {
    Handle handle;
    EXPECT_EQ(table->listen(bytes.data(), &ends.listener), kSuccess);
    std::memcpy(&handle, bytes.data(), sizeof handle);
    return handle;
  }
  /// A TCP connection of somebody else's to whoever made this handle.
  static int call(const Handle& handle) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(handle.tcp_port);
    std::memcpy(&to.sin_addr, handle.addresses[0].data() + 12, 4);
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
    return fd;
  }
  void try_accept(void* listener, void*& receiver) {
    const Code code = receiver == nullptr ? table->accept(listener, &receiver) : kSuccess;
    EXPECT_EQ(code, kSuccess) << logged_warnings();
  }
};
MRC_ALL_VERSIONS(Connect);

TEST_P(Connect, DescribesItsDevice) {
  int count = 0;
  ASSERT_EQ(table->devices(&count), kSuccess);
  ASSERT_EQ(count, 1) << "two threads are the lanes of one";
  Facts f;
  ASSERT_EQ(table->facts(0, &f), kSuccess);
  EXPECT_STREQ(table->name(), "OpenMRC");
  EXPECT_EQ(f.name, "mrc0");
  EXPECT_FALSE(f.has_pci_path);
  EXPECT_EQ(f.pointers, kPtrHost);
  EXPECT_GT(f.mbps, 0);
  EXPECT_EQ(f.port, 1);
  EXPECT_EQ(f.max_comms, 65536 / 3) << "the device has so many queue pairs, and each needs three";
  EXPECT_EQ(f.max_receives, 8);
  EXPECT_FALSE(f.registration_is_global) << "each lane has its own memory, and a comm one of them";
  EXPECT_FALSE(f.force_flush) << "what has come is in host memory";
  EXPECT_EQ(f.device_type, kDeviceHost);
  EXPECT_EQ(f.max_multi_request, 1);
  EXPECT_EQ(f.rail, -1);
  EXPECT_EQ(f.plane, -1) << "it has all of them";
  if (GetParam() >= 9) {
    EXPECT_THAT(f.parts, ::testing::ElementsAre(0));
    EXPECT_EQ(f.max_p2p_bytes, 1u << 30);
    EXPECT_EQ(f.max_collective_bytes, 1u << 30);
  }
  EXPECT_EQ(table->facts(1, &f), kInvalidArgument);
}

/// Each letter is one call: c connect, a accept. Whatever the beginning, both must come together afterwards.
TEST_P(Connect, InEveryOrder) {
  for (const char* order :
       {"", "c", "a", "cc", "aa", "ca", "ac", "cccccccc", "aaaaaaaa", "caaaaaaa", "acccccccc", "cacacaca"}) {
    Ends ends;
    HandleBytes handle;
    ASSERT_EQ(table->listen(handle.data(), &ends.listener), kSuccess);
    for (const char* step = order; *step != '\0'; ++step) {
      *step == 'c' ? try_connect(handle, ends.sender) : try_accept(ends.listener, ends.receiver);
    }
    EXPECT_TRUE(drive([&] {
      try_connect(handle, ends.sender);
      try_accept(ends.listener, ends.receiver);
      return ends.sender != nullptr && ends.receiver != nullptr;
    })) << order;
    close_ends(*table, ends);
  }
}

TEST_P(Connect, ManyAtOnceCrossing) {
  constexpr int kMany = 6;
  std::array<Ends, kMany> ends;
  std::array<HandleBytes, kMany> handles;
  for (int i = 0; i < kMany; ++i) ASSERT_EQ(table->listen(handles[i].data(), &ends[i].listener), kSuccess);
  EXPECT_TRUE(drive([&] {
    int ready = 0;
    for (int i = 0; i < kMany; ++i) {
      Ends& from = ends[kMany - 1 - i];
      try_connect(handles[kMany - 1 - i], from.sender);
      try_accept(ends[i].listener, ends[i].receiver);
    }
    for (const Ends& e : ends) ready += e.sender != nullptr && e.receiver != nullptr;
    return ready == kMany;
  }));
  for (Ends& e : ends) close_ends(*table, e);
}

TEST_P(Connect, SeveralSendersComeToOneListener) {
  void* listener = nullptr;
  HandleBytes first;
  ASSERT_EQ(table->listen(first.data(), &listener), kSuccess);
  HandleBytes second = first;
  void *senders[2] = {}, *receivers[2] = {};
  EXPECT_TRUE(drive([&] {
    try_connect(first, senders[0]);
    try_connect(second, senders[1]);
    try_accept(listener, receivers[receivers[0] != nullptr]);
    return senders[0] != nullptr && senders[1] != nullptr && receivers[1] != nullptr;
  }));
  for (void* s : senders) EXPECT_EQ(table->close_send(s), kSuccess);
  for (void* r : receivers) EXPECT_EQ(table->close_receive(r), kSuccess);
  EXPECT_EQ(table->close_listen(listener), kSuccess);
}

TEST_P(Connect, StrangersAreTurnedAway) {
  Ends ends;
  HandleBytes bytes;
  const Handle handle = listen(bytes, ends);
  const int stranger = call(handle);
  ASSERT_EQ(::send(stranger, "GET / HTTP/1.1\r\n\r\n", 18, MSG_NOSIGNAL), 18);
  Handle forged = handle;  // who got the address but not the handle
  ++forged.cookie;
  HandleBytes wrong{};
  std::memcpy(wrong.data(), &forged, sizeof forged);
  void *intruder = nullptr, *request = nullptr, *nobody = nullptr;
  Code intruded = kSuccess;
  const auto intrude = [&] {  // the door is shut after the greeting
    return intruder == nullptr ? table->connect(wrong.data(), &intruder)
                               : table->send(intruder, {nullptr, 20'000, 1, nullptr}, &request);
  };
  EXPECT_TRUE(drive([&] {
    if (intruded == kSuccess) intruded = intrude();
    try_connect(bytes, ends.sender);
    try_accept(ends.listener, ends.receiver != nullptr ? nobody : ends.receiver);
    return ends.sender != nullptr && ends.receiver != nullptr && intruded != kSuccess;
  }));
  EXPECT_EQ(intruded, kRemoteError);
  EXPECT_EQ(nobody, nullptr);
  EXPECT_EQ(request, nullptr);
  if (intruder != nullptr) table->close_send(intruder);
  ::close(stranger);
  close_ends(*table, ends);
}

TEST_P(Connect, ATrafficClassThatIsNoneIsRefused) {
  for (const int wrong : {256, 300, INT_MAX}) {
    if (!table->set_traffic_class(wrong)) return;
    Ends ends;
    HandleBytes handle;
    listen(handle, ends);
    EXPECT_EQ(table->connect(handle.data(), &ends.sender), kInvalidArgument);
    EXPECT_NE(logged_warnings().find("trafficClass " + std::to_string(wrong)), std::string::npos)
        << logged_warnings();
    clear_log();
    EXPECT_EQ(table->close_listen(ends.listener), kSuccess);
  }
  table->set_traffic_class(34 << 2);  // of trimmed packets
  Ends ends;
  HandleBytes handle;
  listen(handle, ends);
  Code code = kSuccess;
  EXPECT_TRUE(drive([&] {
    code = table->connect(handle.data(), &ends.sender);
    table->accept(ends.listener, &ends.receiver);
    return code != kSuccess || ends.sender != nullptr;
  }));
  EXPECT_EQ(code, kInvalidArgument);
  EXPECT_NE(logged_warnings().find("trimmed"), std::string::npos) << logged_warnings();
  EXPECT_EQ(table->close_listen(ends.listener), kSuccess);
  for (const int right : {255, INT_MIN}) {
    table->set_traffic_class(right);
    Ends both;
    EXPECT_TRUE(connect_ends(*table, both)) << right << ": " << logged_warnings();
    close_ends(*table, both);
  }
}

// The listener introduces itself to whoever greets, before it knows who that is.
TEST_P(Connect, AStrangerDoesNotHearTheSecret) {
  if (GetParam() != 11) return;  // no version plays a part
  Ends ends;
  HandleBytes bytes;
  const Handle handle = listen(bytes, ends);
  const int stranger = call(handle);
  std::string greeting("\0\0\0\x26\x01oMRC\0\1\0\1", 13);  // length, type, magic, versions
  greeting.resize(4 + 0x26);                               // and no queue pairs
  EXPECT_EQ(::send(stranger, greeting.data(), greeting.size(), MSG_NOSIGNAL), ssize_t(greeting.size()));
  std::string heard(4096, '\0');
  EXPECT_TRUE(drive([&] {
    try_accept(ends.listener, ends.receiver);
    return ::recv(stranger, heard.data(), heard.size(), MSG_DONTWAIT) > 0;
  }));
  const std::string secret(reinterpret_cast<const char*>(&handle.cookie), sizeof handle.cookie);
  EXPECT_EQ(heard[4], 1) << "a greeting";
  EXPECT_EQ(heard.find(secret), std::string::npos);
  ::close(stranger);
  close_ends(*table, ends);
}

// What opens a port and waits to be spoken to, as scanners and monitors do, keeps no sender out.
TEST_P(Connect, SilentStrangersDoNotKeepASenderWaiting) {
  if (GetParam() != 11) return;
  Ends ends;
  HandleBytes bytes;
  const Handle handle = listen(bytes, ends);
  std::array<int, 6> strangers;
  for (int& fd : strangers) fd = call(handle);
  EXPECT_TRUE(drive([&] {  // NCCL_OPENMRC_CONNECT_TIMEOUT_MS is 5000 here, as is a stranger's time
    try_connect(bytes, ends.sender);
    try_accept(ends.listener, ends.receiver);
    return (ends.sender != nullptr && ends.receiver != nullptr) || HasFailure();
  }));
  for (const int fd : strangers) ::close(fd);
  close_ends(*table, ends);
}

TEST_P(Connect, NonsenseHandlesAndAClosedListener) {
  HandleBytes zeros{};
  void* sender = nullptr;
  EXPECT_EQ(table->connect(zeros.data(), &sender), kRemoteError);
  EXPECT_THAT(logged_warnings(), ::testing::HasSubstr("is the same NCCL_NET_PLUGIN set on all ranks?"));
  if (GetParam() != 11)
    return;  // the rest takes NCCL_OPENMRC_CONNECT_TIMEOUT_MS, and no version plays a part
  Ends ends;
  HandleBytes handle;
  ASSERT_EQ(table->listen(handle.data(), &ends.listener), kSuccess);
  ASSERT_EQ(table->connect(handle.data(), &sender), kSuccess);  // under way
  close_ends(*table, ends);
  Code code = kSuccess;
  EXPECT_TRUE(drive([&] { return (code = table->connect(handle.data(), &sender)) != kSuccess; }));
  EXPECT_EQ(code, kRemoteError);
  EXPECT_EQ(sender, nullptr);
}

}  // namespace
}  // namespace mrc::nccl::testing
