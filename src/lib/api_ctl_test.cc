// mrc_ctl.h, call by call: profiles, ports, EV events, endpoint operations, and each errno.
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "lib/api_fixture.h"
#include "lib/privilege.h"

namespace mrc::lib {
namespace {

constexpr int kFormatMask =
    MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP;
constexpr int kEvMask = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                        MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
                        MRC_CTL_EV_PROFILE_EVENT_MASK;

class Ctl : public Api {
 protected:
  Ctl() {
    if (!may_control()) skip = true;
  }
  void SetUp() override {
    if (skip) GTEST_SKIP() << "needs CAP_NET_ADMIN";
  }

  mrc_ctl_ev_fmt_profile_attr format_attr() {
    mrc_ctl_ev_fmt_profile_attr attr{};
    attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
    attr.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV;
    attr.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS;
    attr.ev_fmt_op.fmt_fields = widths;
    attr.ev_fmt_op.fmt_field_count = 2;
    return attr;
  }
  int format_to(mrc_ctl_profile_state state) {
    mrc_ctl_ev_fmt_profile_attr attr{};
    attr.profile_state = state;
    return mrc_ctl_modify_ev_fmt_profile(context, 13, &attr, MRC_CTL_EV_FMT_PROFILE_STATE);
  }
  void make_format() {
    auto attr = format_attr();
    ASSERT_EQ(mrc_ctl_modify_ev_fmt_profile(context, 13, &attr, kFormatMask), 0);
    ASSERT_EQ(format_to(MRC_CTL_PROFILE_ONLINE), 0);
  }
  mrc_ctl_ev_profile_attr explicit_attr(std::uint32_t count) {
    mrc_ctl_ev_profile_attr attr{};
    attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
    attr.ev_mode = MRC_CTL_EV_MODE_EXP;
    attr.ev_fmt_profile_id = 13;
    attr.ev_count = count;
    attr.ev_min_active = 1;
    attr.ev_event_mask = MRC_CTL_EV_DENIED | MRC_CTL_EV_GOOD;
    return attr;
  }
  int ev_to(mrc_ctl_profile_state state) {
    mrc_ctl_ev_profile_attr attr{};
    attr.profile_state = state;
    return mrc_ctl_modify_ev_profile(context, 1, &attr, MRC_CTL_EV_PROFILE_STATE);
  }
  static mrc_ctl_ev ev(int value) {
    mrc_ctl_ev out = MRC_CTL_EV_UNPOPULATED;
    out.val[3] = static_cast<std::uint8_t>(value);
    out.port = 1;
    return out;
  }
  int operate(mrc_ctl_ev_op op, std::vector<mrc_ctl_ev_op_entry>& entries, int* count = nullptr) {
    mrc_ctl_ev_profile_attr attr{};
    attr.ev_op.op = op;
    attr.ev_op.entries = entries.data();
    attr.ev_op.entry_count = static_cast<int>(entries.size());
    const int result = mrc_ctl_modify_ev_profile(context, 1, &attr, MRC_CTL_EV_PROFILE_EV_OP);
    if (count != nullptr) *count = attr.ev_op.entry_count;
    return result;
  }
  void make_explicit() {
    make_format();
    auto attr = explicit_attr(2);
    ASSERT_EQ(mrc_ctl_modify_ev_profile(context, 1, &attr, kEvMask), 0);
    std::vector<mrc_ctl_ev_op_entry> entries(2);
    entries[0].ev_new = ev(1);
    entries[1].ev_new = ev(2);
    ASSERT_EQ(operate(MRC_CTL_EV_OP_REPLACE_EV, entries), 0);
    ASSERT_EQ(ev_to(MRC_CTL_PROFILE_ONLINE), 0);
  }

  bool skip = false;
  mrc_ctl_ev_fmt_field widths[2] = {{16}, {16}};
};

/// Runs `call` in a child without CAP_NET_ADMIN; its result is the child's exit status.
int without_capability(const std::function<int()>& call) {
  const pid_t child = fork();
  if (child == 0) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    if (syscall(SYS_capset, &header, none) != 0) _exit(99);
    _exit(call());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST_F(Ctl, WithoutTheCapabilityEverythingButAskingIsRefused) {  // MRC-CTL-002
  const auto refused = without_capability([&] {
    mrc_ctl_port_attr port{};
    mrc_ctl_ev_fmt_profile_attr format{};
    mrc_ctl_ev_profile_attr profile{};
    mrc_ctl_cc_profile_attr cc{};
    mrc_ctl_ep_req req{};
    mrc_ctl_ep_rsp rsp{};
    mrc_ctl_device_attr device_attr;
    int count = 0, eperms = 0;
    const auto tally = [&](bool failed) { eperms += failed && errno == EPERM ? 1 : 0; };
    tally(mrc_ctl_query_port(context, 1, &port, 1) == -1);
    tally(mrc_ctl_modify_port(context, 1, &port, 1) == -1);
    tally(mrc_ctl_modify_ev_fmt_profile(context, 1, &format, 1) == -1);
    tally(mrc_ctl_query_ev_fmt_profile(context, 1, &format, 1) == -1);
    tally(mrc_ctl_modify_ev_profile(context, 1, &profile, 1) == -1);
    tally(mrc_ctl_query_ev_profile(context, 1, &profile, 1) == -1);
    tally(mrc_ctl_modify_cc_profile(context, 1, &cc, 1) == -1);
    tally(mrc_ctl_query_cc_profile(context, 1, &cc, 1) == -1);
    tally(mrc_ctl_create_ev_event_cq(context, 1, nullptr, nullptr, 0) == nullptr);
    tally(mrc_ctl_ep_batch_send_wait(context, 0, MRC_CTL_EP_OP_EV_PROBE, &req, 1, 1, &rsp, &count) == -1);
    return mrc_ctl_query_device(verbs->handle(), &device_attr) == 0 ? eperms : 98;
  });
  EXPECT_EQ(refused, 10);
}

TEST_F(Ctl, Device) {
  mrc_ctl_device_attr attr;
  ASSERT_EQ(mrc_ctl_query_device(verbs->handle(), &attr), 0);
  EXPECT_EQ(attr.phy_port_mask, 2u);
  EXPECT_STREQ(attr.cc.algorithms[0], "uet-1.0-nscc");
  EXPECT_EQ(attr.ev.ev_free_count, attr.ev.ev_max_count);
  EXPECT_NE(attr.opt_attr & MRC_CTL_OPT_CAP_EV_EVENT, 0u);
  int supported = 0;
  ASSERT_EQ(mrc_ctl_query_device_ex(nullptr, context, &attr, &supported), 0);
  EXPECT_EQ(supported, 1);
  EXPECT_EQ(mrc_ctl_query_device(nullptr, &attr), -1);
  EXPECT_EQ(errno, EINVAL);
  std::uint32_t current = 0;
  mrc_ctl_query_version(&current, nullptr, nullptr, nullptr);
  EXPECT_EQ(current, 0x01000001u);
}

TEST_F(Ctl, Ports) {
  mrc_ctl_port_attr attr{};
  ASSERT_EQ(mrc_ctl_query_port(context, 1, &attr, MRC_CTL_PORT_ADMIN_STATE), 0);
  EXPECT_EQ(attr.port_admin_state, MRC_CTL_PORT_ADMIN_ENABLED);
  attr.port_admin_state = MRC_CTL_PORT_ADMIN_DISABLED;
  ASSERT_EQ(mrc_ctl_modify_port(context, 1, &attr, MRC_CTL_PORT_ADMIN_STATE), 0);
  EXPECT_FALSE(device->port_status(PortId(1)).active());
  const auto wrong = [&](int result) {
    EXPECT_EQ(result, -1);
    EXPECT_EQ(errno, EINVAL);
  };
  wrong(mrc_ctl_modify_port(context, 0, &attr, 1));
  wrong(mrc_ctl_modify_port(context, 2, &attr, 1));
  wrong(mrc_ctl_modify_port(context, 1, &attr, 2));
  wrong(mrc_ctl_modify_port(context, 1, nullptr, 1));
  wrong(mrc_ctl_modify_port(nullptr, 1, &attr, 1));
  wrong(mrc_ctl_query_port(context, 9, &attr, 1));
  attr.port_admin_state = static_cast<mrc_ctl_port_admin_state>(2);
  wrong(mrc_ctl_modify_port(context, 1, &attr, 1));
}

TEST_F(Ctl, FormatFieldsBothWays) {
  make_format();
  mrc_ctl_ev_fmt_field room[2];
  mrc_ctl_ev_fmt_profile_attr attr{};
  attr.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
  attr.ev_fmt_op.fmt_fields = room;
  attr.ev_fmt_op.fmt_field_count = 1;
  EXPECT_EQ(mrc_ctl_query_ev_fmt_profile(context, 13, &attr, MRC_CTL_EV_FMT_PROFILE_OP), -1);
  EXPECT_EQ(errno, E2BIG);
  EXPECT_EQ(attr.ev_fmt_op.fmt_field_count, 2);
  ASSERT_EQ(mrc_ctl_query_ev_fmt_profile(context, 13, &attr, kFormatMask | MRC_CTL_EV_FMT_PROFILE_CUR_STATE),
            0);
  EXPECT_EQ(attr.cur_profile_state, MRC_CTL_PROFILE_ONLINE);
  EXPECT_EQ(attr.ev_fmt_mode, MRC_CTL_EV_FMT_MODE_STEV);
  EXPECT_EQ(room[1].width, 16);
  attr.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS;
  EXPECT_EQ(mrc_ctl_query_ev_fmt_profile(context, 13, &attr, MRC_CTL_EV_FMT_PROFILE_OP), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Ctl, WrongFormats) {
  const struct {
    const char* what;
    std::function<void(mrc_ctl_ev_fmt_profile_attr&, int&)> spoil;
    int error;
  } cases[] = {
      {"mask", [](auto&, int& mask) { mask |= 1 << 9; }, EINVAL},
      {"mode", [](auto& a, int&) { a.ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(3); }, EINVAL},
      {"no mode", [](auto&, int& mask) { mask &= ~MRC_CTL_EV_FMT_PROFILE_MODE; }, EINVAL},
      {"state", [](auto& a, int&) { a.profile_state = static_cast<mrc_ctl_profile_state>(7); }, EINVAL},
      {"jump", [](auto& a, int&) { a.profile_state = MRC_CTL_PROFILE_ONLINE; }, EINVAL},
      {"no fields", [](auto& a, int&) { a.ev_fmt_op.fmt_fields = nullptr; }, EINVAL},
      {"count 0", [](auto& a, int&) { a.ev_fmt_op.fmt_field_count = 0; }, EINVAL},
      {"many", [](auto& a, int&) { a.ev_fmt_op.fmt_field_count = 33; }, E2BIG},
      {"wide", [](auto& a, int&) { a.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP; }, E2BIG},
  };
  for (const auto& c : cases) {
    auto attr = format_attr();
    int mask = kFormatMask;
    c.spoil(attr, mask);
    EXPECT_EQ(mrc_ctl_modify_ev_fmt_profile(context, 13, &attr, mask), -1) << c.what;
    EXPECT_EQ(errno, c.error) << c.what;
  }
  auto attr = format_attr();
  EXPECT_EQ(mrc_ctl_modify_ev_fmt_profile(context, 0, &attr, kFormatMask), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(mrc_ctl_modify_ev_fmt_profile(nullptr, 13, &attr, kFormatMask), -1);
  EXPECT_EQ(errno, EINVAL);
}

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

TEST_F(Ctl, CcProfiles) {
  mrc_ctl_cc_profile_attr attr{};
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  attr.algorithm = "uet-9.9-magic";
  constexpr int kMask = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM;
  EXPECT_EQ(mrc_ctl_modify_cc_profile(context, 1, &attr, kMask), -1);
  EXPECT_EQ(errno, EINVAL);
  attr.algorithm = "uet-1.0-nscc";
  ASSERT_EQ(mrc_ctl_modify_cc_profile(context, 1, &attr, kMask), 0);
  attr.profile_state = MRC_CTL_PROFILE_ONLINE;
  EXPECT_EQ(mrc_ctl_modify_cc_profile(context, 1, &attr, MRC_CTL_CC_PROFILE_STATE), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(
      mrc_ctl_modify_cc_profile(context, 1, &attr, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG), -1);
  EXPECT_EQ(errno, EINVAL);
  mrc_ctl_cc_nscc_cfg config{0, 32768, 12000, 12000, 600, 20000, 0.25f, 0.8f, 0.5f, 1 << 20, 3, 48000, 9000};
  attr.cc_config = &config;
  ASSERT_EQ(
      mrc_ctl_modify_cc_profile(context, 1, &attr, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG), 0);
  mrc_ctl_cc_profile_attr asked{};
  ASSERT_EQ(mrc_ctl_query_cc_profile(context, 1, &asked, kMask | MRC_CTL_CC_PROFILE_CONFIG), 0);
  EXPECT_STREQ(asked.algorithm, "uet-1.0-nscc");
  EXPECT_EQ(static_cast<const mrc_ctl_cc_nscc_cfg*>(asked.cc_config)->target_delay, 9000u);
  mrc_ctl_cc_profile_attr off{};
  off.profile_state = MRC_CTL_PROFILE_OFFLINE;
  ASSERT_EQ(mrc_ctl_modify_cc_profile(context, 2, &off, kMask), 0);  // NULL: congestion control off
  EXPECT_EQ(mrc_ctl_modify_cc_profile(context, 2, &off, 1 << 8), -1);
  EXPECT_EQ(mrc_ctl_query_cc_profile(nullptr, 2, &off, kMask), -1);
  EXPECT_EQ(mrc_ctl_query_cc_profile(context, 0, &off, kMask), -1);
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

class Probes : public Ctl {
 protected:
  mrc_ctl_ep_req probe(std::uint16_t id) {
    mrc_ctl_ep_req req{};
    req.req_id = id;
    const auto gid = device->gids(PortId(1))[3].gid;
    std::memcpy(req.sgid.raw, gid.data(), 16);
    std::memcpy(req.dgid.raw, gid.data(), 16);
    req.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV;
    req.req_ev = ev(1);
    return req;
  }
  int send(std::vector<mrc_ctl_ep_req> reqs, std::uint8_t dscp = 0) {
    rsps.assign(reqs.size() + 1, {});
    return mrc_ctl_ep_batch_send_wait(context, dscp, MRC_CTL_EP_OP_EV_PROBE, reqs.data(),
                                      static_cast<int>(reqs.size()), 2'000'000, rsps.data(), &count);
  }
  std::vector<mrc_ctl_ep_rsp> rsps;
  int count = -1;
};

TEST_F(Probes, AnswersAndSilence) {
  auto silent = probe(8);
  silent.dgid.raw[15] = 99;
  ASSERT_EQ(send({probe(7)}), 0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(rsps[0].req_id, 7);
  EXPECT_EQ(rsps[0].rtt, 1500u);
  EXPECT_EQ(rsps[0].adj_svc_time, 1);
  EXPECT_EQ(send({silent, probe(9)}), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(rsps[0].req_id, 9);
}

TEST_F(Probes, WrongOnes) {
  const std::function<void(mrc_ctl_ep_req&)> spoils[] = {
      [](auto& r) { r.ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(0); },
      [](auto& r) { r.req_ev.port = 0; },
      [](auto& r) { r.req_ev.port = 5; },
      [](auto& r) { r.sgid.raw[15] ^= 0x55; },
      [](auto& r) { r.dgid = {}; },
      [](auto& r) { r.dgid.raw[0] = 0xff; },
  };
  for (const auto& spoil : spoils) {
    auto req = probe(1);
    spoil(req);
    EXPECT_EQ(send({req}), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(send({probe(1), probe(1)}), -1);  // one id twice
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(send({probe(1)}, 64), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(send({}), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace mrc::lib
