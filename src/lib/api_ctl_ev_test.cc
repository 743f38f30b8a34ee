// mrc_ctl.h, call by call: EV profiles, operations on EVs, and the events of their states.
#include <functional>

#include "lib/api_ctl_fixture.h"

namespace mrc::lib {
namespace {

TEST_F(Ctl, ExplicitProfile) {
  make_explicit();
  EXPECT_EQ(format_to(MRC_CTL_PROFILE_OFFLINE), -1);
  EXPECT_EQ(errno, EBUSY);
  mrc_ctl_ev_profile_attr attr{};
  std::vector<mrc_ctl_ev_op_entry> room(2);
  attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY;
  attr.ev_op.entries = room.data();
  attr.ev_op.entry_count = 1;
  EXPECT_EQ(mrc_ctl_query_ev_profile(context, 1, &attr, MRC_CTL_EV_PROFILE_EV_OP), -1);
  EXPECT_EQ(errno, E2BIG);
  EXPECT_EQ(attr.ev_op.entry_count, 2);
  ASSERT_EQ(mrc_ctl_query_ev_profile(context, 1, &attr, MRC_CTL_EV_PROFILE_EV_OP | kEvMask), 0);
  EXPECT_EQ(std::memcmp(&room[1].ev, &(const mrc_ctl_ev&)ev(2), sizeof(mrc_ctl_ev)), 0);
  EXPECT_EQ(room[1].state, MRC_CTL_EV_GOOD);
  EXPECT_EQ(attr.ev_mode, MRC_CTL_EV_MODE_EXP);
  EXPECT_EQ(attr.ev_count, 2u);
  EXPECT_EQ(attr.profile_state, MRC_CTL_PROFILE_ONLINE);
}

TEST_F(Ctl, EvStatesAndTheEntryThatFails) {  // MRC-CTL-014
  make_explicit();
  std::vector<mrc_ctl_ev_op_entry> entries(3);
  for (auto& entry : entries) entry.state = MRC_CTL_EV_DENIED;
  entries[0].ev = ev(2);
  entries[1].ev = ev(9);
  entries[2].ev = ev(1);
  int count = 0;
  EXPECT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &count), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(count, 1);
  entries.erase(entries.begin() + 1);
  ASSERT_EQ(operate(MRC_CTL_EV_OP_QUERY_EV_STATE, entries), 0);
  EXPECT_EQ(entries[0].state, MRC_CTL_EV_DENIED);
  EXPECT_EQ(entries[1].state, MRC_CTL_EV_GOOD);
}

TEST_F(Ctl, AnEntryThatSaysNothingSensibleFailsInItsTurn) {  // MRC-CTL-014
  make_explicit();
  const std::function<void(mrc_ctl_ev_op_entry&)> spoils[] = {
      [](auto& e) { e.flags = 2; }, [](auto& e) { e.state = static_cast<mrc_ctl_ev_state>(64); }};
  auto next = MRC_CTL_EV_DENIED;
  for (const auto& spoil : spoils) {
    std::vector<mrc_ctl_ev_op_entry> entries(2);
    for (auto& entry : entries) entry.state = next;
    entries[0].ev = ev(1);
    entries[1].ev = ev(2);
    spoil(entries[1]);
    int count = 0;
    EXPECT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, entries, &count), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(count, 1);
    entries.resize(1);
    ASSERT_EQ(operate(MRC_CTL_EV_OP_QUERY_EV_STATE, entries), 0);
    EXPECT_EQ(entries[0].state, next) << "the one before it stays";
    next = MRC_CTL_EV_GOOD;
  }
}

TEST_F(Ctl, WrongEvOperations) {
  make_explicit();
  std::vector<mrc_ctl_ev_op_entry> entries(1);
  entries[0].ev = ev(1);
  entries[0].state = MRC_CTL_EV_DENIED;
  entries[0].flags = 2;
  EXPECT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, entries), -1);
  EXPECT_EQ(errno, EINVAL);
  entries[0].flags = 0;
  EXPECT_EQ(operate(static_cast<mrc_ctl_ev_op>(9), entries), -1);
  EXPECT_EQ(errno, EINVAL);
  std::vector<mrc_ctl_ev_op_entry> none;
  EXPECT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, none), -1);
  EXPECT_EQ(errno, EINVAL);
  std::vector<mrc_ctl_ev_op_entry> many(1025, entries[0]);
  EXPECT_EQ(operate(MRC_CTL_EV_OP_MODIFY_EV_STATE, many), -1);
  EXPECT_EQ(errno, E2BIG);
  mrc_ctl_ev_profile_attr both{};
  EXPECT_EQ(mrc_ctl_modify_ev_profile(context, 1, &both,
                                      MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP),
            -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(
      mrc_ctl_query_ev_profile(context, 1, &both, MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP),
      -1);
  EXPECT_EQ(errno, EINVAL);
  both.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
  EXPECT_EQ(mrc_ctl_query_ev_profile(context, 1, &both, MRC_CTL_EV_PROFILE_EV_OP), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Ctl, GeneratedFieldsBothWays) {
  make_format();
  mrc_ctl_ev_field fields[2] = {{8, 0, 1, 6, 0x07}, {16, 0x100, 0, 3, 0x03}};
  auto attr = explicit_attr(16);
  attr.ev_mode = MRC_CTL_EV_MODE_GEN;
  attr.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, 2};
  ASSERT_EQ(mrc_ctl_modify_ev_profile(context, 1, &attr, kEvMask | MRC_CTL_EV_PROFILE_EV_FIELDS_OP), 0);
  ASSERT_EQ(ev_to(MRC_CTL_PROFILE_ONLINE), 0);
  mrc_ctl_ev_field room[2];
  mrc_ctl_ev_profile_attr asked{};
  asked.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS, room, 1};
  EXPECT_EQ(mrc_ctl_query_ev_profile(context, 1, &asked, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), -1);
  EXPECT_EQ(errno, E2BIG);
  ASSERT_EQ(mrc_ctl_query_ev_profile(context, 1, &asked, MRC_CTL_EV_PROFILE_EV_FIELDS_OP), 0);
  EXPECT_EQ(room[1].init_val, 0x100u);
}

void deny(mrc_context* context, const mrc_ctl_ev& which, mrc_ctl_ev_state state) {
  mrc_ctl_ev_op_entry entry{};
  entry.ev = which;
  entry.state = state;
  mrc_ctl_ev_profile_attr attr{};
  attr.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
  attr.ev_op.entries = &entry;
  attr.ev_op.entry_count = 1;
  ASSERT_EQ(mrc_ctl_modify_ev_profile(context, 1, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
}

TEST_F(Ctl, EvEvents) {
  make_explicit();
  mrc_comp_channel* channel;
  ASSERT_EQ(mrc_create_comp_channel(context, &channel), 0);
  mrc_cq* cq = mrc_ctl_create_ev_event_cq(context, 2, this, channel, 0);
  ASSERT_NE(cq, nullptr);
  ASSERT_EQ(mrc_req_notify_cq(cq, 0), 0);
  for (int i = 0; i < 4; ++i) deny(context, ev(1), i % 2 == 0 ? MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD);
  mrc_cq* which;
  void* user;
  ASSERT_EQ(mrc_get_cq_event(channel, &which, &user), 0);
  EXPECT_EQ(which, cq);
  EXPECT_EQ(user, this);
  mrc_ack_cq_events(cq, 1);
  mrc_ctl_ev_event events[4];
  ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 4, events), 2);
  EXPECT_EQ(events[0].profile_id, 1u);
  EXPECT_EQ(events[0].state, MRC_CTL_EV_DENIED);
  EXPECT_EQ(events[1].state, MRC_CTL_EV_GOOD);
  deny(context, ev(2), MRC_CTL_EV_DENIED);
  ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 4, events), 1);
  EXPECT_EQ(events[0].drop_count, 2u);
  ibv_wc wc;
  EXPECT_EQ(mrc_poll_cq(cq, 1, &wc), -1);
  EXPECT_EQ(mrc_ctl_poll_ev_event(nullptr, 1, events), -EINVAL);
  EXPECT_EQ(mrc_ctl_poll_ev_event(cq, -1, events), -EINVAL);
  EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 1, nullptr), -EINVAL);
  EXPECT_EQ(mrc_destroy_comp_channel(channel), EBUSY);
  EXPECT_EQ(mrc_destroy_cq(cq), 0);
  EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
  EXPECT_EQ(mrc_ctl_create_ev_event_cq(context, 0, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Ctl, AClientOf100GetsItsOwnEventStructure) {  // MRC-API-002
  make_explicit();
  mrc_context_attr old{MRC_API_VER(1, 0, 0), 0};
  mrc_context* older = mrc_create_context(verbs->handle(), &old);
  mrc_cq* cq = mrc_ctl_create_ev_event_cq(older, 8, nullptr, nullptr, 0);
  deny(context, ev(1), MRC_CTL_EV_DENIED);
  deny(context, ev(2), MRC_CTL_EV_DENIED);
  alignas(8) unsigned char room[3 * 48];
  std::memset(room, 0xAA, sizeof room);
  ASSERT_EQ(mrc_ctl_poll_ev_event(cq, 2, reinterpret_cast<mrc_ctl_ev_event*>(room)), 2);
  EXPECT_EQ(room[48 + 8 + 3], 2);  // the second event's EV, 48 bytes after the first
  for (std::size_t i = 96; i < sizeof room; ++i) ASSERT_EQ(room[i], 0xAA) << "wrote past the array";
  EXPECT_EQ(mrc_destroy_cq(cq), 0);
  EXPECT_EQ(mrc_destroy_context(older), 0);
}

}  // namespace
}  // namespace mrc::lib
