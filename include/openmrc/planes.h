/* OpenMRC: how the planes of one queue pair stand, for whoever has to say which link is bad. */
#ifndef OPENMRC_PLANES_H
#define OPENMRC_PLANES_H

#include <mrc.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct openmrc_plane {
  char interface_name[16];
  uint8_t port_num;
  uint8_t link_up;   /* of our port, now */
  uint8_t usable;    /* as the queue pair last knew: our port and the peer's are up */
  uint16_t evs;      /* paths of this queue pair through this port */
  uint16_t evs_good; /* of those, the ones that are not withdrawn; none when all retries went unanswered */
};

/* Fills at most `count` planes. How many there are, or -1 with errno: ENOTCONN before the queue pair has
 * paths. */
int openmrc_query_planes(struct mrc_qp* qp, struct openmrc_plane* planes, int count);

/* The same in a line for people: "eth0 up, 64 of 64 EVs good; eth1 down, 0 of 64 EVs good". Writes at most
 * `size` bytes with the 0 at the end, and returns how long the whole line is, or -1 with errno. */
int openmrc_describe_planes(struct mrc_qp* qp, char* text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* OPENMRC_PLANES_H */
