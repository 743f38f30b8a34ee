/* OpenMRC: the controller interface of Multipath Reliable Connection, API 1.0.1.
 *
 * A controller shapes a device for all programs of the node: ports, the format of entropy values (EVs), the
 * sets of EVs that queue pairs spray over, congestion control, and probes. What it makes outlives it. It
 * needs CAP_NET_ADMIN.
 *
 * Every function returns 0, or -1 with errno, except mrc_ctl_create_ev_event_cq (NULL with errno) and
 * mrc_ctl_poll_ev_event (a count, or -errno). Common errors: EPERM without the capability, EINVAL for a wrong
 * argument, missing attribute or illegal transition, EBUSY for a profile in use, E2BIG beyond capacity,
 * ENOENT for an unknown EV.
 */
#ifndef MRC_CTL_H
#define MRC_CTL_H

#include <infiniband/verbs.h>
#include <mrc.h>
#include <mrc_ctl_api_ver.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_CTL_MAX_VENDOR_CFG_SIZE 128
#define MRC_CTL_EV_MAX_BYTES 32

/* ---- device and ports ---- */

enum mrc_ctl_protocol_version {
  MRC_CTL_PROTOCOL_VERSION_0 = 0,
  MRC_CTL_PROTOCOL_VERSION_1 = 1,
};

enum mrc_ctl_attr_opt {
  MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE = 1 << 0,
  MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE = 1 << 1,
  MRC_CTL_OPT_CAP_EV_EVENT = 1 << 2,
  MRC_CTL_OPT_CAP_EV_EXPLICIT_RANGE = 1 << 3,
  MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT = 1 << 4,
  MRC_CTL_OPT_CAP_EP_OP_EV_PROBE = 1 << 5,
};

struct mrc_ctl_device_attr {
  uint32_t mrc_ctl_protocol_version;
  struct {
    uint32_t ev_max_fmt_profiles; /* ids are the controller's to choose, except 0 */
    uint32_t ev_max_profiles;     /* the same */
    uint32_t ev_max_count;        /* EVs of all profiles together */
    uint32_t ev_free_count;       /* how many of them are free now */
    uint32_t ev_max_count_profile;
    uint32_t ev_count_align; /* ev_count is a multiple of this */
    uint32_t ev_max_width;   /* bits */
    uint32_t ev_fmt_mode_mask;
    uint32_t ev_mode_mask;
    uint32_t ev_op_max_entries;
  } ev;
  struct {
    uint32_t cc_max_profiles;
    const char** algorithms; /* names, ended by NULL; belongs to the library */
  } cc;
  uint32_t phy_port_mask; /* bit N is port N; ports count from 1 */
  uint32_t opt_attr;      /* enum mrc_ctl_attr_opt */
};

int mrc_ctl_query_device(struct ibv_context* context, struct mrc_ctl_device_attr* ctl_attr);
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
int mrc_ctl_query_device_ex(struct ibv_context* context, struct mrc_context* mcontext,
                            struct mrc_ctl_device_attr* ctl_attr, int* supported);
#endif
void mrc_ctl_query_version(uint32_t* current_version, uint32_t* last_supported_version,
                           uint32_t* vendor_version, uint32_t* last_supported_vendor_version);

enum mrc_ctl_port_admin_state {
  MRC_CTL_PORT_ADMIN_DISABLED = 0,
  MRC_CTL_PORT_ADMIN_ENABLED = 1,
};

enum mrc_ctl_port_attr_mask {
  MRC_CTL_PORT_ADMIN_STATE = 1 << 0,
};

struct mrc_ctl_port_attr {
  enum mrc_ctl_port_admin_state port_admin_state;
};

int mrc_ctl_query_port(struct mrc_context* context, uint8_t port_num, struct mrc_ctl_port_attr* attr,
                       int attr_mask);
/* A disabled port shows as IBV_PORT_DOWN, and every queue pair leaves it. */
int mrc_ctl_modify_port(struct mrc_context* context, uint8_t port_num, struct mrc_ctl_port_attr* attr,
                        int attr_mask);

/* ---- profiles: INIT -> OFFLINE -> ONLINE -> OFFLINE -> INIT ---- */

enum mrc_ctl_profile_state {
  MRC_CTL_PROFILE_INIT = 0,
  MRC_CTL_PROFILE_OFFLINE = 1,
  MRC_CTL_PROFILE_ONLINE = 2,
};

/* ---- EV format profile: which bits an EV becomes on the wire ---- */

enum mrc_ctl_ev_fmt_mode {
  MRC_CTL_EV_FMT_MODE_STEV = 1 << 0, /* 32 bits, one subfield per tier */
  MRC_CTL_EV_FMT_MODE_SRV6 = 1 << 1, /* 128 bits, or 256 with a segment routing header */
  MRC_CTL_EV_FMT_MODE_UDP = 1 << 2,  /* 16 bits, the UDP source port */
};

enum mrc_ctl_ev_fmt_op {
  MRC_CTL_EV_FMT_OP_MODIFY_FIELDS = 0,
  MRC_CTL_EV_FMT_OP_QUERY_FIELDS = 1,
};

enum mrc_ctl_ev_fmt_profile_attr_mask {
  MRC_CTL_EV_FMT_PROFILE_STATE = 1 << 0,
  MRC_CTL_EV_FMT_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_EV_FMT_PROFILE_MODE = 1 << 2,
  MRC_CTL_EV_FMT_PROFILE_OP = 1 << 3,
  MRC_CTL_EV_FMT_VENDOR_CFG = MRC_ENUM_BIT_31,
};

struct mrc_ctl_ev_fmt_field {
  uint8_t width; /* bits */
};

struct mrc_ctl_ev_fmt_profile_attr {
  enum mrc_ctl_profile_state profile_state;     /* to go to */
  enum mrc_ctl_profile_state cur_profile_state; /* where it is */
  enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
  struct {
    enum mrc_ctl_ev_fmt_op op;
    struct mrc_ctl_ev_fmt_field* fmt_fields; /* most significant first */
    int fmt_field_count;                     /* query: in, room; out, how many there are */
  } ev_fmt_op;
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

int mrc_ctl_modify_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                  struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask);
int mrc_ctl_query_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                 struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask);

/* ---- EV profile: the set of paths that a queue pair sprays over ---- */

typedef uint8_t mrc_ctl_ev_t[MRC_CTL_EV_MAX_BYTES];

struct mrc_ctl_ev {
  mrc_ctl_ev_t val; /* a string of bits: its first bit is the most significant of val[0] */
  uint8_t port;     /* the port that it leaves by, from 1 */
};

/* An explicit slot that no EV has been written to. */
#ifdef __cplusplus
#define MRC_CTL_EV_UNPOPULATED (mrc_ctl_ev{})
#else
#define MRC_CTL_EV_UNPOPULATED ((struct mrc_ctl_ev){.val = {0}, .port = 0})
#endif

enum mrc_ctl_ev_state {
  MRC_CTL_EV_GOOD = 1 << 0,
  MRC_CTL_EV_ASSUMED_BAD = 1 << 1,
  MRC_CTL_EV_DENIED = 1 << 2,
  MRC_CTL_EV_UNKNOWN = MRC_ENUM_BIT_31,
};

enum mrc_ctl_ev_mode {
  MRC_CTL_EV_MODE_AUTO = 1 << 0, /* the provider decides */
  MRC_CTL_EV_MODE_EXP = 1 << 1,  /* the controller writes each EV */
  MRC_CTL_EV_MODE_GEN = 1 << 2,  /* the provider picks within the range of each field */
};

enum mrc_ctl_ev_op {
  MRC_CTL_EV_OP_REPLACE_EV = 0,
  MRC_CTL_EV_OP_MODIFY_EV_STATE = 1,
  MRC_CTL_EV_OP_QUERY_EV_STATE = 2,
  MRC_CTL_EV_OP_QUERY_EV_ARRAY = 3,
};

enum mrc_ctl_ev_op_flags {
  MRC_CTL_EV_OP_F_ALL_COPIES = 1 << 0, /* apply to every slot that holds this EV */
};

enum mrc_ctl_ev_fields_op {
  MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS = 0,
  MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS = 1,
};

enum mrc_ctl_ev_profile_attr_mask {
  MRC_CTL_EV_PROFILE_STATE = 1 << 0,
  MRC_CTL_EV_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_EV_PROFILE_MODE = 1 << 2,
  MRC_CTL_EV_PROFILE_FMT_ID = 1 << 3,
  MRC_CTL_EV_PROFILE_COUNT = 1 << 4,
  MRC_CTL_EV_PROFILE_MIN_ACTIVE = 1 << 5,
  MRC_CTL_EV_PROFILE_EVENT_MASK = 1 << 6,
  MRC_CTL_EV_PROFILE_EV_OP = 1 << 7,
  MRC_CTL_EV_PROFILE_EV_FIELDS_OP = 1 << 8,
  MRC_CTL_EV_PROFILE_VENDOR_CFG = MRC_ENUM_BIT_31,
};

/* How a field of the format gets its bits from an EV: those under mask come from the EV, the rest from
 * init_val. */
struct mrc_ctl_ev_field {
  uint32_t width;
  uint32_t init_val;
  uint32_t min_val; /* of the bits under mask, for generated EVs */
  uint32_t max_val;
  uint32_t mask;
};

struct mrc_ctl_ev_op_entry {
  struct mrc_ctl_ev ev;
  struct mrc_ctl_ev ev_new; /* replace only */
  enum mrc_ctl_ev_state state;
  uint32_t flags; /* enum mrc_ctl_ev_op_flags */
};

struct mrc_ctl_ev_profile_attr {
  enum mrc_ctl_profile_state profile_state;
  enum mrc_ctl_profile_state cur_profile_state;
  enum mrc_ctl_ev_mode ev_mode;
  uint64_t ev_fmt_profile_id;
  uint32_t ev_count;
  uint32_t ev_min_active;
  int ev_event_mask; /* enum mrc_ctl_ev_state: which states raise an event when entered */
  struct {
    enum mrc_ctl_ev_op op;
    struct mrc_ctl_ev_op_entry* entries;
    int entry_count; /* on an error: the index of the entry that failed */
  } ev_op;
  struct {
    enum mrc_ctl_ev_fields_op op;
    struct mrc_ctl_ev_field* fields;
    int field_count;
  } ev_fields_op;
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

int mrc_ctl_modify_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id,
                              struct mrc_ctl_ev_profile_attr* attr, int attr_mask);
int mrc_ctl_query_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id,
                             struct mrc_ctl_ev_profile_attr* attr, int attr_mask);

/* ---- congestion control profile ---- */

enum mrc_ctl_cc_profile_attr_mask {
  MRC_CTL_CC_PROFILE_STATE = 1 << 0,
  MRC_CTL_CC_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_CC_PROFILE_ALGORITHM = 1 << 2,
  MRC_CTL_CC_PROFILE_CONFIG = 1 << 3,
  MRC_CTL_CC_PROFILE_VENDOR_CFG = MRC_ENUM_BIT_31,
};

struct mrc_ctl_cc_profile_attr {
  enum mrc_ctl_profile_state profile_state;
  enum mrc_ctl_profile_state cur_profile_state;
  const char* algorithm; /* NULL: congestion control off */
  const void* cc_config; /* struct mrc_ctl_cc_nscc_cfg; query: the library's copy, until this thread's next query */
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

struct mrc_ctl_cc_nscc_cfg {
  uint8_t disable_qa;
  uint32_t adjust_bytes_threshold;
  uint32_t adjust_period_threshold; /* ns */
  uint32_t base_rtt;                /* ns */
  float eta;
  float fi;
  float fi_scale;
  float gamma;
  float max_md_jump;
  uint32_t max_cwnd; /* bytes */
  uint8_t qa_gate;
  uint32_t qa_threshold; /* ns */
  uint32_t target_delay; /* ns */
};

int mrc_ctl_modify_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id,
                              struct mrc_ctl_cc_profile_attr* attr, int attr_mask);
int mrc_ctl_query_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id,
                             struct mrc_ctl_cc_profile_attr* attr, int attr_mask);

/* ---- EV events ---- */

struct mrc_ctl_ev_event {
  uint64_t profile_id;
  struct mrc_ctl_ev ev;
  uint32_t drop_count; /* events lost between the one before and this one */
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
  enum mrc_ctl_ev_state state;
#endif
};

struct mrc_cq* mrc_ctl_create_ev_event_cq(struct mrc_context* mrc_ctx, int cqe, void* cq_context,
                                          struct mrc_comp_channel* channel, int comp_vector);
/* The context's mrc_api_version_used says which mrc_ctl_ev_event the array holds: a program of 1.0.0 gets
 * that. */
int mrc_ctl_poll_ev_event(struct mrc_cq* ev_cq, int num_entries, struct mrc_ctl_ev_event* ev_event);

/* ---- endpoint operations: probes and port status, answered by the peer's device ---- */

enum mrc_ctl_ep_op_type {
  MRC_CTL_EP_OP_EV_PROBE = 0,
  MRC_CTL_EP_OP_PORT_STATUS_UPDATE = 1,
};

struct mrc_ctl_ep_req {
  uint16_t req_id;
  union ibv_gid sgid;
  union ibv_gid dgid;
  enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
  struct mrc_ctl_ev req_ev;
  union {
    struct {
      uint32_t port_status; /* bit N set: port N is up */
    } port_status_update;
  } op;
};

struct mrc_ctl_ep_rsp {
  uint16_t req_id;
  uint8_t port;
  unsigned int rtt;     /* ns */
  uint8_t adj_svc_time; /* 1: the peer took its holding time out of rtt */
};

/* Sends all requests at once and waits at most rsp_timeout ns. rsp has room for num_req answers; *num_rsp
 * says how many came, in order of arrival. ETIMEDOUT when some are missing; those that arrived are filled in.
 */
int mrc_ctl_ep_batch_send_wait(struct mrc_context* mrc_ctx, uint8_t req_tc, enum mrc_ctl_ep_op_type op_type,
                               struct mrc_ctl_ep_req* req, int num_req, uint32_t rsp_timeout,
                               struct mrc_ctl_ep_rsp* rsp, int* num_rsp);

#ifdef __cplusplus
}
#endif

#endif /* MRC_CTL_H */
