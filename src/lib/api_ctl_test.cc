// mrc_ctl.h, call by call: rights, device, ports, formats, CC profiles, endpoint operations, and each errno.
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "lib/api_ctl_fixture.h"

namespace mrc::lib {
namespace {

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
