/* OpenMRC: the application interface of Multipath Reliable Connection, API 1.0.1 (MRC-API-001: compared with
 * spec/abi.json).
 *
 * Open a device with libibverbs, make an mrc_context on it, then queue pairs and completion queues here. Work
 * requests and completions are the verbs types. Only RDMA writes, with and without immediate, travel over
 * MRC.
 *
 * Return values follow two families. "0 or -1": -1 sets errno. "0 or errno": the value itself is the error,
 * as the ibv_ twin of the function does. Functions that return a pointer give NULL and set errno. All
 * functions may be called from several threads; a destroy must not race with a use of the same object.
 */
#ifndef MRC_H
#define MRC_H

#include <infiniband/verbs.h>
#include <mrc_api_ver.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_MAX_VENDOR_CFG_SIZE 128

/* A mask bit that an int holds without shifting into its sign. */
#define MRC_ENUM_BIT_31 (-2147483647 - 1)

struct mrc_context;
struct mrc_comp_channel;
struct mrc_cq;
struct mrc_qp;
struct mrc_qp_hint;

/* ---- device ---- */

enum mrc_protocol_version {
  MRC_PROTOCOL_VERSION_0 = 0,
  MRC_PROTOCOL_VERSION_1 = 1,
};

enum mrc_device_cap {
  MRC_DEVICE_CAP_TRIM_NACK = 1 << 0,   /* answers a trimmed packet with a NACK */
  MRC_DEVICE_CAP_DYNAMIC_MPR = 1 << 1, /* can change its MPR while the QP runs */
  MRC_DEVICE_CAP_SVC_TIME = 1 << 2,    /* takes its own holding time out of echoed timestamps */
};

struct mrc_device_attr {
  uint32_t mrc_protocol_version; /* highest that the device speaks */
  struct {
    uint16_t max_wimm;      /* writes with immediate in flight, as requestor */
    uint16_t max_wimm_dest; /* the same as responder */
  } wimm_attr;
  struct {
    uint8_t max_mpr;        /* maximum PSN range, in units of 128 PSNs */
    uint8_t mpr_resolution; /* MPR values are multiples of this */
  } mpr_attr;
  struct {
    uint32_t max_qp_hint; /* hints at a time, of all contexts of the device in this process */
  } qp_attr;
  uint32_t cap; /* enum mrc_device_cap */
};

/* 0 or -1. *supported is 0 where the device is not an MRC device; that is not an error. */
int mrc_query_device(struct ibv_context* context, struct mrc_device_attr* attr, int* supported);
#if MRC_API_VER_USED >= MRC_API_VER(1, 0, 1)
/* The same for a context that may already have an mrc_context; either of the two may be NULL, not both. */
int mrc_query_device_ex(struct ibv_context* context, struct mrc_context* mcontext,
                        struct mrc_device_attr* attr, int* supported);
#endif
/* Any of the four may be NULL. */
void mrc_query_version(uint32_t* current_version, uint32_t* last_supported_version, uint32_t* vendor_version,
                       uint32_t* last_supported_vendor_version);

/* ---- context ---- */

struct mrc_context_attr {
  uint32_t mrc_api_version_used; /* MRC_API_VER_USED; 0 when the program does not say */
  uint32_t mrc_vendor_api_version_used;
};

/* context_attr may be NULL. Closing the verbs device comes after destroying its MRC contexts. */
struct mrc_context* mrc_create_context(struct ibv_context* vcontext, struct mrc_context_attr* context_attr);
/* 0 or -1: EBUSY while it has queue pairs, completion queues, channels or hints. */
int mrc_destroy_context(struct mrc_context* mrc_ctx);

/* ---- completion ---- */

/* 0 or errno. */
int mrc_create_comp_channel(struct mrc_context* mrc_ctx, struct mrc_comp_channel** channel);
/* 0 or -1. The descriptor polls readable while an event waits. */
int mrc_get_comp_channel_fd(struct mrc_comp_channel* channel, int* fd);
/* 0 or errno: EBUSY while completion queues use it. */
int mrc_destroy_comp_channel(struct mrc_comp_channel* channel);

/* channel may be NULL. */
struct mrc_cq* mrc_create_cq(struct mrc_context* mrc_ctx, int cqe, void* cq_context,
                             struct mrc_comp_channel* channel, int comp_vector);
/* How many completions were written to wc, or -1 with errno: EOVERFLOW once the queue has overrun. */
int mrc_poll_cq(struct mrc_cq* cq, int num_entries, struct ibv_wc* wc);
/* 0 or errno: EBUSY while queue pairs use it. Waits until every event of it has been acknowledged. */
int mrc_destroy_cq(struct mrc_cq* cq);
/* 0 or errno. One event at the next completion, or the next solicited or failed one. */
int mrc_req_notify_cq(struct mrc_cq* cq, int solicited_only);
/* 0 or -1. Blocks, unless the descriptor was set to O_NONBLOCK: then EAGAIN. */
int mrc_get_cq_event(struct mrc_comp_channel* channel, struct mrc_cq** cq, void** cq_context);
void mrc_ack_cq_events(struct mrc_cq* cq, unsigned int nevents);

/* ---- hints: how many queue pairs the program is about to make ---- */

enum mrc_qp_hint_attr_mask {
  MRC_QP_HINT_NUM_QPS_PER_PEER = 1 << 0,
  MRC_QP_HINT_NUM_SEND_PEERS = 1 << 1,
  MRC_QP_HINT_NUM_REMOTE_RECV_PEERS = 1 << 2,
  MRC_QP_HINT_VENDOR_CFG = MRC_ENUM_BIT_31,
};

struct mrc_qp_hint_attr {
  int num_qps_per_peer;
  int num_send_peers;
  int num_remote_recv_peers;
  uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

struct mrc_qp_hint_init_attr {
  struct mrc_qp_hint_attr attr;
};

/* EINVAL; ENOMEM past max_qp_hint. */
struct mrc_qp_hint* mrc_create_qp_hint(struct mrc_context* mrc_ctx, struct mrc_qp_hint_init_attr* init_attr);
/* The next three: 0 or -1. EINVAL; EBUSY while a queue pair uses the hint. */
int mrc_destroy_qp_hint(struct mrc_qp_hint* qp_hint);
int mrc_query_qp_hint(struct mrc_qp_hint* qp_hint, struct mrc_qp_hint_attr* qp_hint_attr,
                      int qp_hint_attr_mask);
int mrc_modify_qp_hint(struct mrc_qp_hint* qp_hint, struct mrc_qp_hint_attr* qp_hint_attr,
                       int qp_hint_attr_mask);

/* ---- queue pairs ---- */

struct mrc_qp_init_attr {
  void* qp_context;
  struct mrc_cq* send_cq;
  struct mrc_cq* recv_cq;
  struct ibv_qp_cap cap;
  int sq_sig_all;
  struct ibv_pd* pd;
  uint64_t send_ops_flags; /* enum ibv_qp_create_send_ops_flags: RDMA_WRITE, RDMA_WRITE_WITH_IMM */
  enum mrc_protocol_version protocol_version;
};

enum mrc_qp_attr_mask {
  MRC_QP_MAX_WIMM = 1 << 0,
  MRC_QP_MAX_WIMM_DEST = 1 << 1,
  MRC_QP_MPR = 1 << 2,
  MRC_QP_MPR_DEST = 1 << 3,
  MRC_QP_TIMEOUT = 1 << 4,
  MRC_QP_EV_PROFILE_ID = 1 << 5,
  MRC_QP_CC_PROFILE_ID = 1 << 6,
  MRC_QP_HINT = 1 << 7,
  MRC_QP_RETRY_CNT = 1 << 8,
  MRC_QP_CAP = 1 << 9,
  MRC_QP_VENDOR_CFG = MRC_ENUM_BIT_31,
};

enum mrc_qp_cap {
  MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED = 1 << 0, /* the peer sends no trim NACKs */
  MRC_QP_CAP_DYNAMIC_MPR = 1 << 1,                /* both ends agreed on dynamic MPR */
  MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED = 1 << 2,  /* the peer leaves its holding time in timestamps */
};

struct mrc_qp_attr {
  struct {
    uint8_t mpr;      /* PSN range as requestor (what the peer accepts), in units of 128 PSNs */
    uint8_t mpr_dest; /* PSN range as responder (what this side accepts) */
  } mpr;
  struct {
    uint16_t max_wimm;      /* writes with immediate in flight as requestor */
    uint16_t max_wimm_dest; /* the same as responder */
  } wimm;
  uint8_t timeout; /* 1.024 us * 2^timeout, at most 24; 0: it never gives up, whatever retry says */
  struct {
    uint64_t ev_profile_id; /* 0: the provider's own paths */
    uint64_t cc_profile_id; /* 0: the provider's own congestion control */
  } profile;
  struct {
    uint8_t linear_cnt; /* at most 7 */
    uint8_t exp_cnt;    /* at most 25, which means for ever */
  } retry;
  struct mrc_qp_hint* qp_hint;
  uint32_t cap; /* enum mrc_qp_cap */
  uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

struct mrc_qp* mrc_create_qp(struct mrc_context* mrc_ctx, struct mrc_qp_init_attr* mrc_qp_attr);
/* From here on 0 or errno, as the ibv_ twins. */
int mrc_destroy_qp(struct mrc_qp* qp);
int mrc_query_qp(struct mrc_qp* qp, struct ibv_qp_attr* vattr, int vattr_mask, struct mrc_qp_attr* mrc_attr,
                 int mrc_attr_mask, struct mrc_qp_init_attr* init_attr);
int mrc_modify_qp(struct mrc_qp* qp, struct ibv_qp_attr* vattr, int vattr_mask, struct mrc_qp_attr* mrc_attr,
                  int mrc_attr_mask);
/* 0 or -1. */
int mrc_get_qpn(struct mrc_qp* qp, uint32_t* qpn);
/* On an error *bad_wr is the first request that was not posted; those before it were. */
int mrc_post_recv(struct mrc_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad_wr);
int mrc_post_send(struct mrc_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad_wr);

/* ---- asynchronous events ---- */

struct mrc_async_event {
  union {
    struct mrc_cq* cq;
    struct mrc_qp* qp;
    int port_num;
  } element;
  enum ibv_event_type event_type;
};

/* 0 or errno. Blocks until an event of this context's objects or ports comes. */
int mrc_get_async_event(struct mrc_context* mrc_ctx, struct mrc_async_event* event);
/* Each event must be acknowledged before its queue pair or completion queue can be destroyed. */
void mrc_ack_async_event(struct mrc_async_event* event);

#ifdef __cplusplus
}
#endif

/* MRC-API-003: programs written before 1.0.0 call the device attributes `struct mrc_attr`. A tag can only be
 * aliased by the preprocessor; define MRC_NO_OLD_NAMES to keep the word for yourself. */
#ifndef MRC_NO_OLD_NAMES
#define mrc_attr mrc_device_attr
#endif

#endif /* MRC_H */
