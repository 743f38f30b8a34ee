// For tests of mrc_ctl.h: a controller, formats and profiles on their way through their states.
#pragma once

#include "lib/api_fixture.h"
#include "lib/privilege.h"

namespace mrc::lib {

inline constexpr int kFormatMask =
    MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP;
inline constexpr int kEvMask = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
                               MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT |
                               MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK;

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

}  // namespace mrc::lib
