/* OpenMRC: connecting queue pairs over TCP.
 *
 * MRC leaves connection set-up to applications. This does it for them: both sides tell each other QP numbers,
 * GIDs, PSNs, limits and capabilities, agree on what both can do, and move their queue pairs to RTS together.
 * What does not fit is an error with a sentence that says which side has to change (openmrc_error()); so are
 * settings of the two processes that must be the same: MRC_UDP_PORT, MRC_ICRC, the trimmed classes of
 * MRC_DSCP.
 *
 * The side that listens and the side that connects call the same thing otherwise: qps[i] here meets qps[i]
 * there. The TCP connection stays open: it carries openmrc_exchange(), and tells when the peer has gone. A
 * host that falls silent is for the queue pairs to notice: the connection knows one plane only.
 *
 * Functions return 0 or an errno value; a failed call leaves nothing behind but queue pairs that may have
 * left RESET. One thread at a time per listener and per connection.
 */
#ifndef OPENMRC_CONNECT_H
#define OPENMRC_CONNECT_H

#include <mrc.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct openmrc_listener;
struct openmrc_connection;

#define OPENMRC_DEFAULT_PORT "18515"
#define OPENMRC_MAX_QPS 16384
#define OPENMRC_MAX_DATA 65536

/* What this side wants of its queue pairs. Fill it with openmrc_default_params(), then change what matters.
 */
struct openmrc_params {
  uint8_t port_num;       /* 1 */
  uint8_t gid_index;      /* 3: the address of MRC_DEVICES; others of the table reach nobody */
  enum ibv_mtu path_mtu;  /* at most; the smaller of both sides is used. Default: what every port can */
  uint8_t mpr_dest;       /* PSNs that this side accepts, in units of 128. Default: 64 */
  uint16_t max_wimm_dest; /* writes with immediate in flight that this side accepts. Default: 1024 */
  int dynamic_mpr;        /* 0; used only when both sides set it */
  int access;             /* IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE */
  uint8_t service_level;  /* 0 */
  uint8_t traffic_class;  /* 0 */
  uint8_t timeout;        /* 14: 1.024 us * 2^timeout */
  uint8_t linear_retries; /* 7 */
  uint8_t exp_retries;    /* 7; 25 means for ever */
  uint64_t ev_profile_id; /* 0: the provider's own */
  uint64_t cc_profile_id; /* 0: the provider's own */
};
void openmrc_default_params(struct openmrc_params* params);

/* What both sides agreed on. */
struct openmrc_agreement {
  enum ibv_mtu path_mtu;
  uint8_t mpr;       /* as requestor: what the peer accepts */
  uint16_t max_wimm; /* as requestor */
  int dynamic_mpr;
  int peer_trim_nack;    /* the peer answers trimmed packets */
  int peer_service_time; /* the peer takes its holding time out of timestamps */
  union ibv_gid peer_gid;
};

/* Moves queue pairs from RESET to INIT, where receives can be posted: before connecting, so that an immediate
 * of a quick peer finds one. Connecting does it for queue pairs that are still in RESET. */
int openmrc_prepare(struct mrc_qp** qps, int count, const struct openmrc_params* params);

/* host may be NULL for all addresses; service may be NULL for OPENMRC_DEFAULT_PORT, "0" for any free port. */
int openmrc_listen(const char* host, const char* service, struct openmrc_listener** listener);
/* The TCP port in use, and a descriptor that polls readable when somebody connects. */
int openmrc_listener_port(const struct openmrc_listener* listener);
int openmrc_listener_fd(const struct openmrc_listener* listener);
void openmrc_destroy_listener(struct openmrc_listener* listener);

/* `context` is the device of the queue pairs. `data` (at most OPENMRC_MAX_DATA bytes, may be NULL) reaches
 * the peer: addresses and keys of memory, say. timeout_ms < 0 waits for ever; ETIMEDOUT. params may be NULL.
 *
 * Nobody holds the other up: who has begun and then says nothing for 10 s is given up. A listener says so on
 * stderr and serves the next one, within its own time; to who called it is ETIMEDOUT. A caller waits for a
 * busy listener as long as it may, but not for one that nothing reaches any more: EHOSTDOWN when the plane
 * that TCP uses has carried nothing for 5 s before they have met. Another address, with other queue pairs,
 * may do. A listener's queue pairs stay as they are until a caller is ready: after ECONNRESET (it died half
 * way) and EPROTO (it is another program) they can be offered to the next one at once. */
int openmrc_accept(struct openmrc_listener* listener, struct ibv_context* context, struct mrc_qp** qps,
                   int count, const struct openmrc_params* params, const void* data, size_t size,
                   int timeout_ms, struct openmrc_connection** connection);
int openmrc_connect(const char* host, const char* service, struct ibv_context* context, struct mrc_qp** qps,
                    int count, const struct openmrc_params* params, const void* data, size_t size,
                    int timeout_ms, struct openmrc_connection** connection);

const struct openmrc_agreement* openmrc_agreed(const struct openmrc_connection* connection);
/* What the peer gave as `data`; it lives as long as the connection. */
const void* openmrc_peer_data(const struct openmrc_connection* connection, size_t* size);

/* Sends `data` and waits for what the peer sends by the same call: a barrier that carries something. The
 * peer's bytes go to `peer`, *peer_size says how much fits and becomes how much came (EMSGSIZE when it does
 * not fit). ECONNRESET: it has gone. After ETIMEDOUT the two sides are out of step: close. */
int openmrc_exchange(struct openmrc_connection* connection, const void* data, size_t size, void* peer,
                     size_t* peer_size, int timeout_ms);
/* Polls readable when the peer has sent something or has gone. */
int openmrc_connection_fd(const struct openmrc_connection* connection);

/* Says goodbye now and returns: the peer's descriptor polls readable. openmrc_close() then only waits for the
 * peer's. Afterwards openmrc_exchange() is an error. */
int openmrc_say_goodbye(struct openmrc_connection* connection);

/* Both sides say goodbye, waiting at most timeout_ms for the other, and the connection goes in any case. The
 * queue pairs stay as they are: destroy them afterwards, and no packet of the peer's will miss them. 0;
 * ETIMEDOUT or ECONNRESET when the peer did not say it. */
int openmrc_close(struct openmrc_connection* connection, int timeout_ms);

/* The sentence of this thread's last failure; also why ibv_get_device_list() has no soft device, or why one
 * did not open. */
const char* openmrc_error(void);

#ifdef __cplusplus
}
#endif

#endif /* OPENMRC_CONNECT_H */
