#include "tools/conform_control.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace mrc::tools {
namespace {

constexpr std::uint32_t kEvs = 16;
constexpr std::uint16_t kFirstPort = 50000;

mrc_ctl_ev ev_of(std::uint32_t source_port) {
  mrc_ctl_ev ev{};
  ev.port = 1;
  ev.val[0] = static_cast<std::uint8_t>(source_port >> 8);
  ev.val[1] = static_cast<std::uint8_t>(source_port);
  return ev;
}

Status done(int result, const char* what) {
  if (result == 0) return Done{};
  return Error{errno, std::string(what) + ": " + std::strerror(errno)};
}

Status make_format(mrc_context* context) {
  mrc_ctl_ev_fmt_field whole{};
  whole.width = 16;
  mrc_ctl_ev_fmt_profile_attr format{};
  format.profile_state = MRC_CTL_PROFILE_OFFLINE;
  format.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP;
  format.ev_fmt_op = {MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, &whole, 1};
  const int mask = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP;
  if (auto made =
          done(mrc_ctl_modify_ev_fmt_profile(context, ConformControl::kProfile, &format, mask), "EV format");
      !made)
    return made;
  format.profile_state = MRC_CTL_PROFILE_ONLINE;
  return done(
      mrc_ctl_modify_ev_fmt_profile(context, ConformControl::kProfile, &format, MRC_CTL_EV_FMT_PROFILE_STATE),
      "EV format online");
}

}  // namespace

Status ConformControl::make(mrc_context* context) {
  if (auto made = make_format(context); !made) return made;
  std::array<mrc_ctl_ev_op_entry, kEvs> entries{};
  for (std::uint32_t i = 0; i < kEvs; ++i) entries[i].ev_new = ev_of(kFirstPort + i);
  mrc_ctl_ev_profile_attr paths{};
  paths.profile_state = MRC_CTL_PROFILE_OFFLINE;
  paths.ev_mode = MRC_CTL_EV_MODE_EXP;
  paths.ev_fmt_profile_id = kProfile;
  paths.ev_count = kEvs;
  const int shape = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                    MRC_CTL_EV_PROFILE_COUNT;
  if (auto made = done(mrc_ctl_modify_ev_profile(context, kProfile, &paths, shape), "EV profile"); !made)
    return made;
  paths.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
  paths.ev_op.entries = entries.data();
  paths.ev_op.entry_count = kEvs;
  if (auto made = done(mrc_ctl_modify_ev_profile(context, kProfile, &paths, MRC_CTL_EV_PROFILE_EV_OP), "EVs");
      !made)
    return made;
  paths.profile_state = MRC_CTL_PROFILE_ONLINE;
  paths.ev_min_active = 1;
  const int online = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK;
  return done(mrc_ctl_modify_ev_profile(context, kProfile, &paths, online), "EV profile online");
}

Status ConformControl::set_state(mrc_context* context, Ev ev, bool denied) {
  mrc_ctl_ev_op_entry entry{};
  entry.ev = ev_of(ev.value & 0xFFFF);
  entry.state = denied ? MRC_CTL_EV_DENIED : MRC_CTL_EV_GOOD;
  entry.flags = MRC_CTL_EV_OP_F_ALL_COPIES;
  mrc_ctl_ev_profile_attr attr{};
  attr.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
  attr.ev_op.entries = &entry;
  attr.ev_op.entry_count = 1;
  if (denied) denied_ = ev;
  return done(mrc_ctl_modify_ev_profile(context, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_OP), "deny");
}

Status ConformControl::set_congestion(mrc_context* context, const engine::NsccConfig& c) {
  mrc_ctl_cc_profile_attr attr{};
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  attr.algorithm = "uet-1.0-nscc";
  // One that is there already has its algorithm, and only leaves the line.
  if (mrc_ctl_modify_cc_profile(context, kProfile, &attr, MRC_CTL_CC_PROFILE_STATE) != 0) {
    const int first = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM;
    if (auto made = done(mrc_ctl_modify_cc_profile(context, kProfile, &attr, first), "CC profile"); !made)
      return made;
  }
  const mrc_ctl_cc_nscc_cfg config{.disable_qa = c.disable_qa,
                                   .adjust_bytes_threshold = c.adjust_bytes_threshold,
                                   .adjust_period_threshold = c.adjust_period_threshold,
                                   .base_rtt = c.base_rtt,
                                   .eta = c.eta,
                                   .fi = c.fi,
                                   .fi_scale = c.fi_scale,
                                   .gamma = c.gamma,
                                   .max_md_jump = c.max_md_jump,
                                   .max_cwnd = c.max_cwnd,
                                   .qa_gate = c.qa_gate,
                                   .qa_threshold = c.qa_threshold,
                                   .target_delay = c.target_delay};
  attr.profile_state = MRC_CTL_PROFILE_ONLINE;
  attr.cc_config = &config;
  return done(mrc_ctl_modify_cc_profile(context, kProfile, &attr,
                                        MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG),
              "CC profile online");
}

void ConformControl::forgive(mrc_context* context) {
  if (denied_ != Ev(0)) (void)static_cast<bool>(set_state(context, denied_, false));
  denied_ = Ev(0);
}

}  // namespace mrc::tools
