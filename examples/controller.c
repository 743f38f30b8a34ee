/* controller: shapes how queue pairs of this node spray, then looks at what it made. Needs CAP_NET_ADMIN.
 *
 *   mrc exec -d lo -- ./controller
 *
 * Four explicit paths (UDP source ports) become EV profile 7, one of them is denied, and NSCC with a longer
 * target delay becomes CC profile 7. A program uses them by naming the ids in its queue pairs' attributes.
 * Profiles last as long as the node's daemon (mrcd); without one, as long as this process.
 */
#include <mrc_ctl.h>
#include <stdio.h>
#include <stdlib.h>

enum { kProfile = 7, kPaths = 4 };

static void check(int result, const char* what) {
  if (result == 0) return;
  perror(what);
  exit(1);
}

static struct mrc_ctl_ev path(unsigned source_port) {
  struct mrc_ctl_ev ev = {.port = 1};
  ev.val[0] = (uint8_t)(source_port >> 8); /* the first bit of the string is the most significant */
  ev.val[1] = (uint8_t)source_port;
  return ev;
}

static void make_format(struct mrc_context* mrc) {
  struct mrc_ctl_ev_fmt_field whole = {.width = 16};
  struct mrc_ctl_ev_fmt_profile_attr format = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
                                               .ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP,
                                               .ev_fmt_op = {MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, &whole, 1}};
  check(mrc_ctl_modify_ev_fmt_profile(
            mrc, kProfile, &format,
            MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP),
        "EV format");
  format.profile_state = MRC_CTL_PROFILE_ONLINE;
  check(mrc_ctl_modify_ev_fmt_profile(mrc, kProfile, &format, MRC_CTL_EV_FMT_PROFILE_STATE),
        "EV format online");
}

static void make_paths(struct mrc_context* mrc) {
  struct mrc_ctl_ev_op_entry entries[kPaths] = {0};
  for (unsigned i = 0; i < kPaths; ++i) entries[i].ev_new = path(50000 + i);
  struct mrc_ctl_ev_profile_attr paths = {.profile_state = MRC_CTL_PROFILE_OFFLINE,
                                          .ev_mode = MRC_CTL_EV_MODE_EXP,
                                          .ev_fmt_profile_id = kProfile,
                                          .ev_count = kPaths};
  check(mrc_ctl_modify_ev_profile(mrc, kProfile, &paths,
                                  MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
                                      MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT),
        "EV profile");
  paths.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
  paths.ev_op.entries = entries;
  paths.ev_op.entry_count = kPaths;
  check(mrc_ctl_modify_ev_profile(mrc, kProfile, &paths, MRC_CTL_EV_PROFILE_EV_OP), "EVs");
  paths.profile_state = MRC_CTL_PROFILE_ONLINE;
  paths.ev_min_active = 2;
  paths.ev_event_mask = MRC_CTL_EV_ASSUMED_BAD;
  check(mrc_ctl_modify_ev_profile(
            mrc, kProfile, &paths,
            MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK),
        "EV profile online");
}

static void deny(struct mrc_context* mrc, struct mrc_ctl_ev ev) {
  struct mrc_ctl_ev_op_entry entry = {
      .ev = ev, .state = MRC_CTL_EV_DENIED, .flags = MRC_CTL_EV_OP_F_ALL_COPIES};
  struct mrc_ctl_ev_profile_attr attr = {.ev_op = {MRC_CTL_EV_OP_MODIFY_EV_STATE, &entry, 1}};
  check(mrc_ctl_modify_ev_profile(mrc, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_OP), "deny");
}

static void make_congestion_control(struct mrc_context* mrc) {
  struct mrc_ctl_cc_nscc_cfg config = {.adjust_bytes_threshold = 32000,
                                       .adjust_period_threshold = 12000,
                                       .base_rtt = 12000,
                                       .eta = 600,
                                       .fi = 20000,
                                       .fi_scale = 0.25f,
                                       .gamma = 0.8f,
                                       .max_md_jump = 0.5f,
                                       .max_cwnd = 4000000,
                                       .qa_gate = 3,
                                       .qa_threshold = 48000,
                                       .target_delay = 18000};
  struct mrc_ctl_cc_profile_attr mine = {
      .profile_state = MRC_CTL_PROFILE_OFFLINE, .algorithm = "uet-1.0-nscc", .cc_config = &config};
  check(mrc_ctl_modify_cc_profile(mrc, kProfile, &mine,
                                  MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM),
        "CC profile");
  mine.profile_state = MRC_CTL_PROFILE_ONLINE;
  check(mrc_ctl_modify_cc_profile(mrc, kProfile, &mine, MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CONFIG),
        "CC profile online");
  printf("CC profile %d: NSCC, target delay %u ns\n", kProfile, config.target_delay);
}

static void show(struct mrc_context* mrc) {
  struct mrc_ctl_ev_op_entry entries[kPaths] = {0};
  for (unsigned i = 0; i < kPaths; ++i) entries[i].ev = path(50000 + i);
  struct mrc_ctl_ev_profile_attr attr = {.ev_op = {MRC_CTL_EV_OP_QUERY_EV_STATE, entries, kPaths}};
  check(mrc_ctl_query_ev_profile(mrc, kProfile, &attr, MRC_CTL_EV_PROFILE_EV_OP), "EV states");
  for (int i = 0; i < kPaths; ++i) {
    const unsigned port = (unsigned)entries[i].ev.val[0] << 8 | entries[i].ev.val[1];
    printf("EV %u: %s\n", port, entries[i].state == MRC_CTL_EV_DENIED ? "denied" : "good");
  }
}

int main(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  struct ibv_context* verbs = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
  struct mrc_context* mrc = verbs != NULL ? mrc_create_context(verbs, NULL) : NULL;
  if (mrc == NULL) return perror("no device: run me under mrc exec"), 1;
  ibv_free_device_list(list);
  make_format(mrc);
  make_paths(mrc);
  deny(mrc, path(50002));
  show(mrc);
  make_congestion_control(mrc);
  mrc_destroy_context(mrc);
  return ibv_close_device(verbs);
}
