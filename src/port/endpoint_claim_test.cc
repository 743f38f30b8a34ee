// Packets to reserved QP numbers: who of the processes at an address gets them, and what concerns all.
#include "port/seat_test_support.h"

namespace mrc::port {
namespace {

// MRC-PORT-002
TEST_F(SeatTest, TheEndpointPassesOnWhenItsHolderDies) {
  auto first = std::make_unique<Member>();
  ASSERT_TRUE(first->await_seat());
  Member second;
  ASSERT_TRUE(second.await_seat());
  expect_own_packet(*first, kEndpointQpn);
  first->kill_now();
  // The second hears of it by itself; a packet that comes before waits in the place that it inherits.
  expect_own_packet(second, kEndpointQpn);
}

TEST_F(SeatTest, TheDaemonGetsTheEndpointFromItsHolder) {
  Member application, bystander;
  ASSERT_TRUE(application.await_seat());
  ASSERT_TRUE(bystander.await_seat());
  auto daemon = std::make_unique<Member>(SeatOptions{.endpoint = EndpointRole::insist});
  ASSERT_TRUE(daemon->await_seat());
  expect_own_packet(*daemon, kEndpointQpn);
  EXPECT_FALSE(application.hear(0));
  daemon->kill_now();
  send(kEndpointQpn);
  const bool heard = application.hear(1000).has_value() || bystander.hear(1000).has_value();
  EXPECT_TRUE(heard) << "nobody took the endpoint back";
}

/// A packet of QP 2: `opcode`, and an id in its PSN; the endpoint operation is a Port Status Update.
std::string endpoint_packet(unsigned char opcode, std::uint16_t id) {
  std::string packet(60, '\0');
  packet[0] = static_cast<char>(opcode);
  packet[7] = 2;
  packet[10] = static_cast<char>(id >> 8);
  packet[11] = static_cast<char>(id);
  return packet;
}

TEST_F(SeatTest, AnAnswerReachesWhoAsked) {  // MRC-NODE-006
  Member holder;
  ASSERT_TRUE(holder.await_seat());
  Member asker;
  ASSERT_TRUE(asker.await_seat());
  const auto ids = Steering{}.request_ids_of(asker.index());
  for (const unsigned id : {unsigned{ids.first}, unsigned{ids.first} + ids.mask}) {
    send(endpoint_packet(0xD9, static_cast<std::uint16_t>(id)), 60);
    EXPECT_EQ(asker.hear().value_or(Report{}).qpn, 2u);
  }
  EXPECT_FALSE(holder.hear(0));
}

TEST_F(SeatTest, APeersPortStatusReachesEveryProcess) {  // MRC-NODE-007
  Member holder;                                         // who comes first holds the endpoint
  ASSERT_TRUE(holder.await_seat());
  Member second, third;
  for (Member* m : {&second, &third}) ASSERT_TRUE(m->await_seat());
  send(endpoint_packet(0xD8, 7), 60);
  for (Member* m : {&holder, &second, &third}) EXPECT_EQ(m->hear().value_or(Report{}).qpn, 2u);
  std::string probe = endpoint_packet(0xD8, 7);
  probe[13] = 1;  // an EV probe: the holder's alone
  send(probe, 60);
  EXPECT_EQ(holder.hear().value_or(Report{}).qpn, 2u);
  for (Member* m : {&second, &third}) EXPECT_FALSE(m->hear(0));
}

}  // namespace
}  // namespace mrc::port
